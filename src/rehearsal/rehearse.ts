import { setMaxListeners } from 'node:events';
import type { Event } from '../core/event.ts';
import type { Run } from '../core/run.ts';
import { recordedEvents } from '../raymond/records.ts';
import { takeUpRun } from '../raymond/resume.ts';
import type { Running } from '../raymond/running.ts';
import { beginRun } from '../raymond/start.ts';
import type { Rehearsal } from '../scenario/rehearsal.ts';
import type { Answer } from '../scenario/scenario.ts';
import type { Workflow } from '../workflow/load.ts';
import { newLife, type Play } from './life.ts';
import { Witness } from './witness.ts';

/** What a run is called in its rehearsal: it is the only one in its folder. */
export const RUN_ID = 'test';

/** An endless loop comes to an end, unless the scenario says otherwise. */
const MOST_ITERATIONS = 1000;

/** Where a rehearsal takes place, and when it is enough. */
export interface Venue {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
  readonly enough: AbortSignal;
}

/** What came of a scenario. */
export interface Performance {
  readonly folder: string;
  readonly run: Run;
  readonly events: readonly Event[];
  readonly witness: Witness;
  /** Which of the scenario's answers were used. */
  readonly used: ReadonlySet<Answer>;
  /** What the scenario lacks, each once. */
  readonly lacks: readonly string[];
  /** Whether it was ended because it took too long. */
  readonly isLate: boolean;
  /** Whether it was ended because nobody wants to see its end. */
  readonly isCutShort: boolean;
  readonly lives: number;
}

/** Plays a scenario, from its beginning to its end, through all lives that it takes. */
export async function rehearse(rehearsal: Rehearsal, workflow: Workflow, venue: Venue): Promise<Performance> {
  const { folder: cwd, env } = venue;
  const { scenario, input } = rehearsal;
  const lacks = new Set<string>();
  const witness = new Witness();
  const used = new Set<Answer>();
  const play: Play = {
    ...{ workflow, scenario, witness },
    plays: (answer) => used.add(answer),
    lacks: (message) => lacks.add(message),
  };
  const events: Event[] = [];
  const place = { cwd, env, observe: (event: Event) => void events.push(event) };
  const options = { maxIterations: MOST_ITERATIONS, ...rehearsal.options, agent: `replay:${scenario.file}` };
  const given = { options, runId: RUN_ID, ...(input !== null && { input }) };

  const patience = new Patience(venue);
  try {
    let life = newLife(play, 1, 0);
    let running = await beginRun(workflow.path, { ...given, ...place }, life.staging);
    for (let lives = 1; ; lives += 1) {
      patience.follow(running);
      const outcome = await Promise.race([running.finished, life.crashed]);
      if (outcome !== 'crashed') {
        const told = lives === 1 ? events : await recordedEvents(RUN_ID, cwd);
        const { isLate, isCutShort } = patience;
        return {
          ...{ folder: cwd, run: outcome, events: told, witness, used, lacks: [...lacks], lives },
          ...{ isLate, isCutShort: isCutShort && outcome.status !== 'completed' },
        };
      }
      life = newLife(play, lives + 1, life.time.ahead);
      running = await takeUpRun(RUN_ID, place, life.staging);
    }
  } finally {
    patience.end();
  }
}

/** A timer takes no more. */
const LONGEST_MS = 2 ** 31 - 1;

/** Ends a run that takes too long, or that nobody wants to see the end of. */
class Patience {
  isLate = false;
  isCutShort = false;
  private running: Running | undefined;
  private readonly timer: NodeJS.Timeout;
  private readonly enough: AbortSignal;

  constructor({ timeoutMs, enough }: Venue) {
    const late = (): void => {
      this.isLate = true;
      this.running?.kill();
    };
    this.timer = setTimeout(late, Math.min(timeoutMs, LONGEST_MS)).unref();
    this.enough = enough;
    // Every scenario under way listens, and there may be many: that is no leak to be warned of.
    setMaxListeners(0, enough);
    enough.addEventListener('abort', this.giveUp);
    if (enough.aborted) this.giveUp();
  }

  follow(running: Running): void {
    this.running = running;
    if (this.isLate || this.isCutShort) running.kill();
  }

  end(): void {
    clearTimeout(this.timer);
    this.enough.removeEventListener('abort', this.giveUp);
  }

  private readonly giveUp = (): void => {
    this.isCutShort = !this.isLate;
    this.running?.kill();
  };
}

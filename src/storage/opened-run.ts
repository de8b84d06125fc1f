import { recordedTurn } from '../core/run/agent.ts';
import type { Change } from '../core/run/change.ts';
import type { Event } from '../core/run/event.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { monotonicMs } from '../process/clock.ts';
import { type RunStart, type SavedRun, serializeSavedRun } from './run-file.ts';

/** A run that is ready to continue: from now on its processes carry this mark. */
export type OpenedRun = SavedRun & { readonly mark: string };

/** The first line of a journal, which says how the run began. */
export const firstChange = ({ run, mark, bootId }: RunStart, events: readonly Event[]): Change => ({
  seq: run.seq,
  head: {},
  agents: [],
  events,
  start: { ...run, mark, bootId },
});

/** Finds the turns whose traces may be lost: the machine went down while they were on record, now or earlier. */
export function findDoubtfulTurns(
  { run, doubtful }: SavedRun,
  bootId: string | null,
  earlierBoots: readonly (string | null)[],
): SavedRun['doubtful'] {
  const isRestarted = bootId !== null && earlierBoots.some((each) => each !== null && each !== bootId);
  const underWay = run.agents.flatMap(({ id: agent, phase }) => {
    const turn = recordedTurn(phase);
    return turn === null ? [] : [{ agent, turn: turn.number }];
  });
  return isRestarted ? underWay : underWay.filter((turn) => includesTurn(doubtful, turn));
}

/** True if a turn is one of these. */
export const includesTurn = (turns: SavedRun['doubtful'], { agent, turn }: SavedRun['doubtful'][number]): boolean =>
  turns.some((each) => each.agent === agent && each.turn === turn);

/** The error for a run that another process has by now: nothing is saved or started here. */
export class LeaseLostError extends RaymondError {
  constructor(id: string) {
    super(`Run ${id} is no longer owned by this process: another one has taken it over.`, {
      exitCode: EXIT.paused,
      hint: 'Nothing more is started here. Running turns finish by themselves.',
    });
  }
}

/** The error for a run whose id is taken. */
export const runExistsError = (id: string): RaymondError =>
  new RaymondError(`A run ${id} already exists.`, {
    exitCode: EXIT.usage,
    hint: `Choose another --run-id, or continue with that run: \`raymond resume ${id}\`.`,
  });

/** The error for a run that cannot be acquired because a process drives it. */
export class RunDrivenError extends RaymondError {}

/** The error for a run that does not exist, with a suggestion and a hint. */
export const noSuchRunError = (
  id: string,
  suggestion = '',
  hint = '`raymond list` shows the runs there are.',
): RaymondError => new RaymondError(`no such run: ${id}${suggestion}`, { exitCode: EXIT.usage, hint });

/** Writing the state file may take up to a twentieth of the time, so a large one is written less often. */
const INTERVAL_FACTOR = 20;

/** How often and how safely the state file is written. */
export interface SnapshotOptions {
  readonly snapshotEveryMs?: number;
  readonly durable?: boolean;
}

/** Puts the text of a state file in its place, if it still may. */
type PutSnapshot = (text: string, saved: SavedRun) => Promise<void>;

/**
 * Writes the state file of a run from time to time. The journal is what counts: a state file that could not be written
 * is tried again later, and only a caller of `write` hears of the error.
 */
export class SnapshotWriter {
  private readonly put: PutSnapshot;
  private readonly everyMs: number;
  private latest: SavedRun;
  private writtenSeq: number;
  private lastWriteMs = 0;
  private writing: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private isAbandoned = false;

  /** `latest` is the run as it stands, which the file already has. */
  constructor(put: PutSnapshot, latest: SavedRun, { snapshotEveryMs = 1000 }: SnapshotOptions) {
    this.put = put;
    this.everyMs = snapshotEveryMs;
    this.latest = latest;
    this.writtenSeq = latest.journal.seq;
  }

  /** Notes the latest run in the journal. The file follows soon, but the timer keeps no process alive. */
  update(saved: SavedRun): void {
    if (saved.journal.seq <= this.latest.journal.seq || this.isAbandoned) return;
    this.latest = saved;
    const writeLatestLater = (): void => {
      this.timer = undefined;
      this.write().catch(() => {});
    };
    this.timer ??= setTimeout(writeLatestLater, Math.max(this.everyMs, INTERVAL_FACTOR * this.lastWriteMs)).unref();
  }

  /** Writes the file now, unless it is up to date. */
  write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.writing = this.writing.catch(() => {}).then(() => this.writeLatest());
    return this.writing;
  }

  /** Stops writing for good. */
  abandon(): void {
    this.isAbandoned = true;
    clearTimeout(this.timer);
  }

  private async writeLatest(): Promise<void> {
    const { latest } = this;
    if (latest.journal.seq === this.writtenSeq) return;
    const started = monotonicMs();
    await this.put(serializeSavedRun(latest), latest);
    this.lastWriteMs = monotonicMs() - started;
    this.writtenSeq = latest.journal.seq;
  }
}

import { hostname } from 'node:os';
import type { Turn } from '../core/due.ts';
import type { Signal } from '../core/signal.ts';
import type { World } from '../engine/world.ts';
import type { Answerer } from '../raymond/answerer.ts';
import type { Staging } from '../raymond/staging.ts';
import type { Answer, Scenario } from '../scenario/scenario.ts';
import { ReplayBackend } from '../turns/replay/backend.ts';
import type { Workflow } from '../workflow/load.ts';
import { VirtualTime } from './virtual-time.ts';
import type { Witness } from './witness.ts';

/** What is played by all lives of a run. */
export interface Play {
  readonly workflow: Workflow;
  readonly scenario: Scenario;
  readonly witness: Witness;
  /** Told which of its answers are used. */
  readonly plays: (answer: Answer) => void;
  /** Told what the scenario lacks. */
  readonly lacks: (message: string) => void;
}

/** One life of a run that is rehearsed: it ends with the run, or when Raymond crashes. */
export interface Life {
  readonly staging: Staging;
  /** Resolves when Raymond is gone; never, if it is not. */
  readonly crashed: Promise<'crashed'>;
  /** Where the next life goes on in time. */
  readonly time: VirtualTime;
}

/** Played turns leave no room for anything else to happen, such as an end of the user's patience, unless they make it. */
const TURNS_IN_A_ROW = 200;

/** Begins the life of that number, `aheadMs` ahead of the time of day. */
export function newLife({ workflow, scenario, witness, plays, lacks }: Play, number: number, aheadMs: number): Life {
  const time = new VirtualTime(aheadMs);
  const gone = new AbortController();
  const crashed = new Promise<'crashed'>((resolve) => {
    gone.signal.addEventListener('abort', () => resolve('crashed'));
  });
  const crash = (): Promise<never> => {
    time.stop();
    gone.abort();
    return new Promise(() => {});
  };
  const answerer: Answerer = {
    find: async () => {},
    backend: (desk, kill) => new ReplayBackend({ desk, scenario, fast: false, kill, clock: time, crash, plays, lacks }),
  };
  const isReal = (turn: Turn): boolean =>
    turn.kind === 'script' && scenario.scripts === 'real' && !scenario.parts.has(turn.state);
  let played = 0;
  const play = async (turn: Turn, world: World): Promise<Signal | null> => {
    played += 1;
    if (played % TURNS_IN_A_ROW === 0) await new Promise(setImmediate);
    return world.take(turn);
  };
  const around = (world: World): World => ({
    prepare: (turn) => time.during(() => world.prepare(turn)),
    take: async (turn) => {
      const signal = await (isReal(turn) ? world.take(turn) : time.during(() => play(turn, world)));
      if (signal?.kind === 'answered' && turn.kind !== 'sleep') witness.hear(turn, signal);
      return signal;
    },
    save: (steps) => time.during(() => world.save(steps)),
    tell(events) {
      witness.see(events);
      world.tell(events);
    },
  });
  const staging: Staging = {
    openWorkflow: async () => workflow,
    answererOf: async () => answerer,
    clock: time,
    store: { durable: false, facts: factsOf(number) },
    debugFiles: false,
    around,
    gone: gone.signal,
  };
  return { staging, crashed, time };
}

/** Each life is a process of a machine that was switched off since: who comes next finds that it is gone. */
const factsOf = (number: number) => ({
  ...{ pid: process.pid, startTime: null, namespace: null, host: hostname() },
  bootId: `rehearsal, life ${number}`,
});

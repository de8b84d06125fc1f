import { hostname } from 'node:os';
import type { Turn } from '../core/due.ts';
import type { Signal } from '../core/signal.ts';
import type { World } from '../engine/world.ts';
import type { BackendFactory } from '../runtime/backend-factory.ts';
import type { Runtime } from '../runtime/run-context.ts';
import type { CannedAnswer, Scenario } from '../scenario/scenario.ts';
import { ReplayBackend } from '../turns/replay/backend.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { VirtualTime } from './virtual-time.ts';

/** What is played by all lives of a run. */
export interface SimulationSetup {
  readonly workflow: Workflow;
  readonly scenario: Scenario;
  /** Told which of its answers are used. */
  readonly onAnswerUsed: (answer: CannedAnswer) => void;
  /** Told what the scenario lacks. */
  readonly onScenarioError: (message: string) => void;
}

/** One life of a run that is rehearsed: it ends with the run, or when Raymond crashes. */
export interface SimulatedProcess {
  readonly runtime: Runtime;
  /** Resolves when Raymond is gone; never, if it is not. */
  readonly crashed: Promise<'crashed'>;
  /** Where the next life goes on in time. */
  readonly time: VirtualTime;
}

/** Played turns leave no room for anything else to happen, such as an end of the user's patience, unless they make it. */
const TURNS_BEFORE_YIELD = 200;

/** Begins the life of that number, `aheadMs` ahead of the time of day. */
export function startSimulatedProcess(
  { workflow, scenario, onAnswerUsed, onScenarioError }: SimulationSetup,
  processNumber: number,
  aheadMs: number,
): SimulatedProcess {
  const time = new VirtualTime(aheadMs);
  const crashController = new AbortController();
  const crashed = new Promise<'crashed'>((resolve) => {
    crashController.signal.addEventListener('abort', () => resolve('crashed'));
  });
  const crash = (): Promise<never> => {
    time.stop();
    crashController.abort();
    return new Promise(() => {});
  };
  const answerer: BackendFactory = {
    checkAvailable: async () => {},
    create: (context) =>
      new ReplayBackend({
        ...context,
        scenario,
        fast: false,
        crash,
        onPlayed: onAnswerUsed,
        onMissing: onScenarioError,
      }),
  };
  const isRealScript = (turn: Turn): boolean =>
    turn.kind === 'script' && scenario.scripts === 'real' && !scenario.answers.has(turn.state);
  let turnsPlayed = 0;
  const playTurn = async (turn: Turn, world: World): Promise<Signal | null> => {
    turnsPlayed += 1;
    if (turnsPlayed % TURNS_BEFORE_YIELD === 0) await new Promise(setImmediate);
    return world.take(turn);
  };
  const wrapWorld = (world: World): World => ({
    prepare: (turn) => time.during(() => world.prepare(turn)),
    take: (turn) => (isRealScript(turn) ? world.take(turn) : time.during(() => playTurn(turn, world))),
    save: (steps) => time.during(() => world.save(steps)),
    tell: world.tell,
  });
  const runtime: Runtime = {
    openWorkflow: async () => workflow,
    chooseBackend: async () => answerer,
    clock: time,
    storeOptions: { durable: false, facts: processFacts(processNumber) },
    debugFiles: false,
    wrapWorld,
    killed: crashController.signal,
  };
  return { runtime, crashed, time };
}

/** Each life is a process of a machine that was switched off since: who comes next finds that it is gone. */
const processFacts = (processNumber: number) => ({
  ...{ pid: process.pid, startTime: null, namespace: null, host: hostname() },
  bootId: `rehearsal, life ${processNumber}`,
});

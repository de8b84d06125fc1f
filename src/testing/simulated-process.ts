import { hostname } from 'node:os';
import type { Signal } from '../core/signals/signal.ts';
import type { Turn } from '../core/turns/due.ts';
import type { World } from '../engine/world.ts';
import type { ProcessIdentity } from '../process/identity.ts';
import type { CannedAnswer, Scenario } from '../scenario/scenario.ts';
import { ReplayBackend } from '../turns/replay/backend.ts';
import type { BackendFactory } from '../wiring/backend-factory.ts';
import { openFileRequests, type Runtime } from '../wiring/run-context.ts';
import type { Workflow } from '../workflow/workflow.ts';
import type { People } from './people.ts';
import { VirtualTime } from './virtual-time.ts';

/** The shared parts of all simulated processes of a test run. */
export interface SimulationSetup {
  readonly workflow: Workflow;
  readonly scenario: Scenario;
  readonly people: People;
  /** Called with each canned answer that is used. */
  readonly onAnswerUsed: (answer: CannedAnswer) => void;
  /** Called with what the scenario lacks. */
  readonly onScenarioError: (message: string) => void;
}

/** A simulated Raymond process: it ends with the run, or where the scenario lets it crash. */
export interface SimulatedProcess {
  readonly runtime: Runtime;
  /** Resolves when the process crashes; never, if it does not. */
  readonly crashed: Promise<'crashed'>;
  /** Lets it crash now: nothing that it has under way ever ends. */
  readonly crash: () => Promise<never>;
  /** Its clock, from which the next process takes over. */
  readonly time: VirtualTime;
}

/** Replayed turns never wait, so now and then they have to let timers and signals have their turn. */
const TURNS_BEFORE_YIELD = 200;

/** Starts the process of that number, counted from 1, with a clock that is `aheadMs` ahead. */
export function startSimulatedProcess(
  { workflow, scenario, people, onAnswerUsed, onScenarioError }: SimulationSetup,
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
  const backendFactory: BackendFactory = {
    checkAvailable: async () => {},
    create: async (context) =>
      new ReplayBackend({
        ...context,
        scenario,
        fast: false,
        crash,
        onAnswerUsed: onAnswerUsed,
        onMissing: onScenarioError,
      }),
    openSessions: async () => null,
  };
  const isRealScript = (turn: Turn): boolean =>
    turn.kind === 'script' && scenario.scripts === 'real' && !scenario.answers.has(turn.state);
  let turnsTaken = 0;
  const takeTurn = async (turn: Turn, world: World): Promise<Signal | null> => {
    turnsTaken += 1;
    if (turnsTaken % TURNS_BEFORE_YIELD === 0) await new Promise(setImmediate);
    return world.take(turn);
  };
  const wrapWorld = (world: World): World => ({
    ...world,
    prepare: (turn) => time.whileRunning(() => world.prepare(turn)),
    take: (turn) => {
      if (turn.kind === 'sleep' && turn.why === 'ask') return people.wait(turn, time);
      return isRealScript(turn) ? world.take(turn) : time.whileRunning(() => takeTurn(turn, world));
    },
    save: (steps) => time.whileRunning(() => world.save(steps)),
  });
  const runtime: Runtime = {
    openWorkflow: async () => workflow,
    chooseBackend: async () => backendFactory,
    clock: time,
    storeOptions: { durable: false, facts: processFacts(processNumber) },
    openRequests: openFileRequests,
    canReachElsewhere: () => false,
    copies: null,
    wrapWorld,
    home: null,
    isGuest: false,
    killed: crashController.signal,
    leaving: null,
    idleLimit: null,
    isSandbox: true,
  };
  return { runtime, crashed, crash, time };
}

/** Each process has another start time, so that the next one finds it gone; the machine is always the same. */
const processFacts = (processNumber: number): ProcessIdentity => ({
  pid: process.pid,
  startTime: `test process ${processNumber}`,
  namespace: null,
  host: hostname(),
  bootId: 'test machine',
});

import { setMaxListeners } from 'node:events';
import { openFileStorage } from '../app/open-files.ts';
import { resumeRunWith } from '../app/resume.ts';
import { readRunEvents } from '../app/run-files.ts';
import { startRunWith } from '../app/start.ts';
import type { Event } from '../core/run/event.ts';
import type { Run } from '../core/run/run.ts';
import { findLayout } from '../disk/layout.ts';
import { MAX_TIMER_MS } from '../language/text/duration.ts';
import type { CannedAnswer } from '../scenario/scenario.ts';
import type { TestSpec } from '../scenario/test-spec.ts';
import { openFileRequests } from '../wiring/run-context.ts';
import type { RunHandle } from '../wiring/run-handle.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { People } from './people.ts';
import { type SimulationSetup, startSimulatedProcess } from './simulated-process.ts';

/** The id of the run in every sandbox, which has no other run. */
export const TEST_RUN_ID = 'test';

/** Ends an endless loop, unless the scenario sets another limit. */
const DEFAULT_MAX_ITERATIONS = 1000;

/** Where a test runs, and when it is ended. */
export interface Sandbox {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
  readonly abortSignal: AbortSignal;
}

/** A finished run of a test case. */
export interface TestRun {
  readonly folder: string;
  readonly run: Run;
  readonly events: readonly Event[];
  /** The canned answers that were used. */
  readonly usedAnswers: ReadonlySet<CannedAnswer>;
  /** The keys of the answers of people that were used. */
  readonly usedAsks: ReadonlySet<string>;
  /** The gaps of the scenario, each message once. */
  readonly scenarioErrors: readonly string[];
  /** Why answers of people would be refused, each message once. */
  readonly refusedAnswers: readonly string[];
  /** True if it was ended because it took too long. */
  readonly isTimedOut: boolean;
  /** True if it was ended by the sandbox's `abortSignal`. */
  readonly isAborted: boolean;
  /** How many processes it took: one more for each crash that the scenario asks for, and for answers of people. */
  readonly processCount: number;
}

/** Runs a scenario to its end, resuming the run after each simulated crash, and when people have answered its questions. */
export async function runScenario(spec: TestSpec, workflow: Workflow, sandbox: Sandbox): Promise<TestRun> {
  const { folder, env } = sandbox;
  const { scenario, input } = spec;
  const scenarioErrors = new Set<string>();
  const usedAnswers = new Set<CannedAnswer>();
  const people = new People(spec.asks, openFileRequests(findLayout(folder), false), TEST_RUN_ID);
  const setup: SimulationSetup = {
    people,
    workflow,
    scenario,
    onAnswerUsed: (answer) => usedAnswers.add(answer),
    onScenarioError: (message) => scenarioErrors.add(message),
  };
  const observedEvents: Event[] = [];
  const location = { cwd: folder, env, observe: (event: Event) => void observedEvents.push(event) };
  // Canned answers need no sandbox, and tests run where there is none; a scenario may ask for one.
  const options = {
    maxIterations: DEFAULT_MAX_ITERATIONS,
    sandbox: false,
    ...spec.options,
    agent: `replay:${scenario.file}`,
  };
  const request = { options, runId: TEST_RUN_ID, ...(input !== null && { input }) };

  const watchdog = new RunWatchdog(sandbox);
  try {
    let simulated = startSimulatedProcess(setup, 1, 0);
    let handle = await startRunWith(workflow.path, { ...request, ...location }, simulated.runtime);
    for (let processCount = 1; ; processCount += 1) {
      watchdog.watch(handle);
      const outcome = await Promise.race([handle.finished, simulated.crashed]);
      const answeredAt = outcome === 'crashed' || watchdog.isOver ? null : await people.answerNext(outcome);
      if (outcome !== 'crashed' && answeredAt === null) {
        return {
          folder,
          run: outcome,
          events: processCount === 1 ? observedEvents : await readRunEvents(TEST_RUN_ID, openFileStorage(folder, env)),
          usedAnswers,
          usedAsks: people.used,
          scenarioErrors: [...scenarioErrors],
          refusedAnswers: [...people.refused],
          isTimedOut: watchdog.isTimedOut,
          isAborted: watchdog.isAborted && outcome.status !== 'completed',
          processCount,
        };
      }
      // The run has ended with questions, or it crashed; with the answers, or after them, somebody resumes it.
      const ahead = Math.max(simulated.time.ahead, (answeredAt ?? 0) - Date.now());
      simulated = startSimulatedProcess(setup, processCount + 1, ahead);
      handle = await resumeRunWith(TEST_RUN_ID, location, simulated.runtime);
    }
  } finally {
    watchdog.stop();
  }
}

/** Ends a run that takes too long or is aborted. */
class RunWatchdog {
  isTimedOut = false;
  isAborted = false;
  private handle: RunHandle | undefined;
  private readonly timer: NodeJS.Timeout;
  private readonly abortSignal: AbortSignal;

  constructor({ timeoutMs, abortSignal }: Sandbox) {
    const timeOut = (): void => {
      this.isTimedOut = true;
      this.handle?.kill();
    };
    this.timer = setTimeout(timeOut, Math.min(timeoutMs, MAX_TIMER_MS)).unref();
    this.abortSignal = abortSignal;
    // Every running test listens to this signal: Node would take so many listeners for a leak.
    setMaxListeners(0, abortSignal);
    abortSignal.addEventListener('abort', this.abortRun);
    if (abortSignal.aborted) this.abortRun();
  }

  get isOver(): boolean {
    return this.isTimedOut || this.isAborted;
  }

  watch(handle: RunHandle): void {
    this.handle = handle;
    if (this.isOver) handle.kill();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.abortSignal.removeEventListener('abort', this.abortRun);
  }

  private readonly abortRun = (): void => {
    this.isAborted = !this.isTimedOut;
    this.handle?.kill();
  };
}

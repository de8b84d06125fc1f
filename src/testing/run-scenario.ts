import { setMaxListeners } from 'node:events';
import type { Event } from '../core/event.ts';
import type { Run } from '../core/run.ts';
import { readRunEvents } from '../runtime/project-files.ts';
import { resumeRunWith } from '../runtime/resume.ts';
import type { RunHandle } from '../runtime/run-handle.ts';
import { startRunWith } from '../runtime/start.ts';
import type { CannedAnswer } from '../scenario/scenario.ts';
import type { TestSpec } from '../scenario/test-spec.ts';
import type { Workflow } from '../workflow/workflow.ts';
import { type SimulationSetup, startSimulatedProcess } from './simulated-process.ts';

/** What a run is called in its rehearsal: it is the only one in its folder. */
export const TEST_RUN_ID = 'test';

/** An endless loop comes to an end, unless the scenario says otherwise. */
const DEFAULT_MAX_ITERATIONS = 1000;

/** Where a rehearsal takes place, and when it is enough. */
export interface Sandbox {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
  readonly abortSignal: AbortSignal;
}

/** What came of a scenario. */
export interface TestRun {
  readonly folder: string;
  readonly run: Run;
  readonly events: readonly Event[];
  /** Which of the scenario's answers were used. */
  readonly usedAnswers: ReadonlySet<CannedAnswer>;
  /** What the scenario lacks, each once. */
  readonly scenarioErrors: readonly string[];
  /** Whether it was ended because it took too long. */
  readonly isTimedOut: boolean;
  /** Whether it was ended because nobody wants to see its end. */
  readonly isAborted: boolean;
  readonly processCount: number;
}

/** Plays a scenario, from its beginning to its end, through all lives that it takes. */
export async function runScenario(spec: TestSpec, workflow: Workflow, sandbox: Sandbox): Promise<TestRun> {
  const { folder: cwd, env } = sandbox;
  const { scenario, input } = spec;
  const scenarioErrors = new Set<string>();
  const usedAnswers = new Set<CannedAnswer>();
  const setup: SimulationSetup = {
    workflow,
    scenario,
    onAnswerUsed: (answer) => usedAnswers.add(answer),
    onScenarioError: (message) => scenarioErrors.add(message),
  };
  const events: Event[] = [];
  const location = { cwd, env, observe: (event: Event) => void events.push(event) };
  const options = { maxIterations: DEFAULT_MAX_ITERATIONS, ...spec.options, agent: `replay:${scenario.file}` };
  const request = { options, runId: TEST_RUN_ID, ...(input !== null && { input }) };

  const watchdog = new RunWatchdog(sandbox);
  try {
    let simulated = startSimulatedProcess(setup, 1, 0);
    let handle = await startRunWith(workflow.path, { ...request, ...location }, simulated.runtime);
    for (let processCount = 1; ; processCount += 1) {
      watchdog.watch(handle);
      const outcome = await Promise.race([handle.finished, simulated.crashed]);
      if (outcome !== 'crashed') {
        const allEvents = processCount === 1 ? events : await readRunEvents(TEST_RUN_ID, cwd);
        const { isTimedOut, isAborted } = watchdog;
        return {
          ...{
            folder: cwd,
            run: outcome,
            events: allEvents,
            usedAnswers,
            scenarioErrors: [...scenarioErrors],
            processCount,
          },
          ...{ isTimedOut, isAborted: isAborted && outcome.status !== 'completed' },
        };
      }
      simulated = startSimulatedProcess(setup, processCount + 1, simulated.time.ahead);
      handle = await resumeRunWith(TEST_RUN_ID, location, simulated.runtime);
    }
  } finally {
    watchdog.stop();
  }
}

/** A timer takes no more. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Ends a run that takes too long, or that nobody wants to see the end of. */
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
    // Every scenario under way listens, and there may be many: that is no leak to be warned of.
    setMaxListeners(0, abortSignal);
    abortSignal.addEventListener('abort', this.abortRun);
    if (abortSignal.aborted) this.abortRun();
  }

  watch(handle: RunHandle): void {
    this.handle = handle;
    if (this.isTimedOut || this.isAborted) handle.kill();
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

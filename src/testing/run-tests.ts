import { availableParallelism } from 'node:os';
import { runsOn } from '../core/state-names.ts';
import { RaymondError } from '../errors.ts';
import { describeAgentPositions } from './agent-positions.ts';
import type { CoverageCollector } from './coverage.ts';
import type { Difference, TestFindings } from './difference.ts';
import { evaluateTestRun } from './evaluate.ts';
import { runScenario } from './run-scenario.ts';
import { openSandboxFolders, type SandboxFolders, writeFixtures } from './sandbox.ts';
import type { TestCase } from './suite.ts';
import { UnusedAnswers } from './unused-answers.ts';

/** How scenarios are to be played. */
export interface TestOptions {
  readonly env: NodeJS.ProcessEnv;
  /** What a scenario may take, in real time. */
  readonly timeoutMs: number;
  /** Whether their folders are kept. */
  readonly keep: boolean;
  /** Once it is aborted, nothing more is begun and what is under way is ended. */
  readonly abortSignal: AbortSignal;
  /** Gathers what they took. */
  readonly coverages?: CoverageCollector;
  readonly listener?: TestListener;
}

/** Told of scenarios as they come and go, in whatever order that is. */
export interface TestListener {
  begins(testCase: TestCase): void;
  /** `where` is where its agents stood if it was interrupted, a line for each; null if it came to its end. */
  ends(testCase: TestCase, positions: readonly string[] | null): void;
}

/** What is to be said of a scenario. */
export interface TestResult extends TestFindings {
  readonly testCase: TestCase;
  readonly tookMs: number;
  /** Its folder, if it is kept. */
  readonly folder: string | null;
}

/** More than processors, for some of it is waiting. */
const MAX_PARALLEL_TESTS = Math.max(4, 2 * availableParallelism());

/** Plays scenarios, several at once, and tells of each that comes to its end, in their order. */
export async function* runTests(testCases: readonly TestCase[], options: TestOptions): AsyncGenerator<TestResult> {
  const sandboxes = openSandboxFolders(options.keep);
  const unusedAnswers = new UnusedAnswers();
  const results: Promise<TestResult | null>[] = [];
  const startNext = (): void => {
    const testCase = testCases[results.length];
    if (testCase === undefined) return;
    const result = options.abortSignal.aborted
      ? Promise.resolve(null)
      : runTest(testCase, options, sandboxes, unusedAnswers);
    // Who waits for it hears of a failure; those behind it are not waited for then.
    result.then(startNext, () => {});
    results.push(result);
  };
  for (let at = 0; at < MAX_PARALLEL_TESTS; at += 1) startNext();
  try {
    for (let at = 0; at < testCases.length; at += 1) {
      const result = await results[at];
      if (result !== null && result !== undefined) yield unusedAnswers.addWarnings(result);
    }
  } finally {
    await Promise.allSettled(results);
    await sandboxes.close();
  }
}

/** Null if it was interrupted. */
async function runTest(
  testCase: TestCase,
  options: TestOptions,
  sandboxes: SandboxFolders,
  unusedAnswers: UnusedAnswers,
): Promise<TestResult | null> {
  const { spec, workflow } = testCase;
  const { env, timeoutMs, abortSignal, keep, coverages, listener } = options;
  listener?.begins(testCase);
  let positions: readonly string[] | null = null;
  const startedAt = performance.now();
  const folder = sandboxes.make(spec.fixtures !== null || (await mayRunScripts(testCase)));
  const toResult = (findings: TestFindings): TestResult => {
    return { testCase, ...findings, tookMs: performance.now() - startedAt, folder: keep ? folder : null };
  };
  try {
    writeFixtures(folder, spec);
    const testRun = await runScenario(spec, workflow, { folder, env, timeoutMs, abortSignal });
    if (testRun.isAborted) {
      positions = describeAgentPositions(testRun.events);
      return null;
    }
    coverages?.add(workflow, testRun);
    unusedAnswers.recordUsed(testCase, testRun.usedAnswers);
    return toResult(await evaluateTestRun(testCase, testRun));
  } catch (error) {
    if (!(error instanceof RaymondError)) throw error;
    const difference: Difference = { ...spec.at, what: 'it', detail: { kind: 'trouble', message: error.message } };
    return toResult({ differences: [difference], warnings: [] });
  } finally {
    sandboxes.release(folder);
    listener?.ends(testCase, positions);
  }
}

/** Whether a scenario may run scripts that are real. */
async function mayRunScripts({ spec, workflow }: TestCase): Promise<boolean> {
  const { answers, scripts } = spec.scenario;
  const { files, platform } = await workflow.scope();
  return (
    scripts === 'real' && files.some((file) => runsOn(file, platform) && !file.endsWith('.md') && !answers.has(file))
  );
}

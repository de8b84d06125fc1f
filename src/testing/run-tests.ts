import { availableParallelism } from 'node:os';
import { RaymondError } from '../errors.ts';
import { isPrompt, runsOn } from '../language/state-names.ts';
import { describeUnusedAsks } from '../scenario/asks.ts';
import { formatAnswersPosition } from '../scenario/choose-answer.ts';
import type { AnswersByState, CannedAnswer, StateAnswers } from '../scenario/scenario.ts';
import type { CoverageCollector } from './coverage.ts';
import type { Difference, TestFindings } from './difference.ts';
import { describeAgentPositions, evaluateTestRun } from './evaluate.ts';
import { runScenario } from './run-scenario.ts';
import { openSandboxFolders, type SandboxFolders, writeFixtures, writePrograms } from './sandbox.ts';
import type { TestCase } from './suite.ts';

/** How tests are run. */
export interface TestOptions {
  readonly env: NodeJS.ProcessEnv;
  /** How long a test may take, in real time. */
  readonly timeoutMs: number;
  /** True if the folders of the tests are kept. */
  readonly keep: boolean;
  /** When it aborts, no test is started any more and running ones are ended. */
  readonly abortSignal: AbortSignal;
  /** Collects the coverage, if it is wanted. */
  readonly coverages?: CoverageCollector;
  readonly listener?: TestListener;
}

/** Hears of tests as they begin and end, in whatever order. */
interface TestListener {
  begins(testCase: TestCase): void;
  /** `positions` tells where the agents of an interrupted test stood, one line each; null if the test came to its end. */
  ends(testCase: TestCase, positions: readonly string[] | null): void;
}

/** The outcome of a test. */
export interface TestResult extends TestFindings {
  readonly testCase: TestCase;
  readonly tookMs: number;
  /** Its folder, if it is kept; else null. */
  readonly folder: string | null;
}

/** More than there are processors, because tests also wait. */
const MAX_PARALLEL_TESTS = Math.max(4, 2 * availableParallelism());

/** Runs tests in parallel and yields their results in order; interrupted tests have none. */
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
    // A bug is thrown to the caller that awaits the result below; here it only starts no further test.
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

/** Runs one test in a folder of its own; null if it was interrupted. */
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
  const runsScripts = mayRunScripts(testCase);
  const folder = sandboxes.make(spec.fixtures !== null || runsScripts);
  const toResult = (findings: TestFindings): TestResult => {
    return { testCase, ...findings, tookMs: performance.now() - startedAt, folder: keep ? folder : null };
  };
  try {
    writeFixtures(folder, spec);
    const testRun = await runScenario(spec, workflow, {
      folder,
      env: runsScripts ? writePrograms(folder, spec, env) : env,
      timeoutMs,
      abortSignal,
    });
    if (testRun.isAborted) {
      positions = describeAgentPositions(testRun.events);
      return null;
    }
    coverages?.add(workflow, testRun);
    unusedAnswers.recordUsed(testCase, testRun.usedAnswers);
    const findings = await evaluateTestRun(testCase, testRun);
    const unusedAsks = findings.differences.length > 0 ? [] : describeUnusedAsks(spec.ownAsks, testRun.usedAsks);
    return toResult({ ...findings, warnings: [...findings.warnings, ...unusedAsks] });
  } catch (error) {
    if (!(error instanceof RaymondError)) throw error;
    const difference: Difference = { ...spec.at, what: 'it', detail: { kind: 'problem', message: error.message } };
    return toResult({ differences: [difference], warnings: [] });
  } finally {
    sandboxes.release(folder);
    listener?.ends(testCase, positions);
  }
}

/** True if the test may run real scripts. */
function mayRunScripts({ spec, workflow }: TestCase): boolean {
  const { answers, scripts } = spec.scenario;
  const { files, platform } = workflow.source;
  return (
    scripts === 'real' && files.some(({ file }) => runsOn(file, platform) && !isPrompt(file) && !answers.has(file))
  );
}

/**
 * Warns of canned answers that were never used. A failed test took another way than its author thought, so its answers
 * are not judged; answers that the scenarios of a file share are judged when all of them have passed.
 */
class UnusedAnswers {
  private readonly usedByTest = new Map<TestCase, ReadonlySet<CannedAnswer>>();
  private readonly passedByFile = new Map<string, TestCase[]>();

  recordUsed(testCase: TestCase, used: ReadonlySet<CannedAnswer>): void {
    this.usedByTest.set(testCase, used);
  }

  /** The result with warnings about its unused answers. Results must come in the order of their file. */
  addWarnings<R extends TestFindings & { readonly testCase: TestCase }>(result: R): R {
    const { testCase, differences, warnings } = result;
    if (differences.length > 0) return result;
    const { ownAnswers, scenariosInFile } = testCase.spec;
    const passedTests = [...(this.passedByFile.get(testCase.file) ?? []), testCase];
    this.passedByFile.set(testCase.file, passedTests);
    const unused = [
      ...describeUnused(ownAnswers, this.answersUsedBy([testCase]), 'was never used'),
      ...(passedTests.length === scenariosInFile ? this.unusedInFile(passedTests) : []),
    ];
    return { ...result, warnings: [...warnings, ...unused] };
  }

  private unusedInFile(testCases: readonly TestCase[]): readonly string[] {
    // Test cases for different workflows share different answers.
    const sharedAnswers = new Map(testCases.flatMap(({ spec }) => [...spec.sharedAnswers]));
    return describeUnused(sharedAnswers, this.answersUsedBy(testCases), 'is used by no scenario');
  }

  private answersUsedBy(testCases: readonly TestCase[]): ReadonlySet<CannedAnswer> {
    return new Set(testCases.flatMap((testCase) => [...(this.usedByTest.get(testCase) ?? [])]));
  }
}

function describeUnused(
  answersByState: AnswersByState,
  used: ReadonlySet<CannedAnswer>,
  phrase: string,
): readonly string[] {
  return [...answersByState].flatMap(([state, stateAnswers]) => {
    const answers = listAnswers(stateAnswers);
    const unusedCount = answers.filter((answer) => !used.has(answer)).length;
    if (unusedCount === 0) return [];
    const some = unusedCount === answers.length ? 'the answers' : `${unusedCount} of the ${answers.length} answers`;
    const subject = answers.length === 1 ? 'the answer' : some;
    return [
      `${formatAnswersPosition(stateAnswers)}: ${subject} for ${state} ${unusedCount === 1 ? phrase : toPlural(phrase)}`,
    ];
  });
}

const listAnswers = ({ cases }: StateAnswers): readonly CannedAnswer[] => cases.flatMap(({ visits }) => visits.flat());

const toPlural = (phrase: string): string => phrase.replace(/^was/, 'were').replace(/^is/, 'are');

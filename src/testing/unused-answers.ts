import { formatAnswersPosition } from '../scenario/choose-answer.ts';
import type { AnswersByState, CannedAnswer, StateAnswers } from '../scenario/scenario.ts';
import type { TestFindings } from './difference.ts';
import type { TestCase } from './suite.ts';

/**
 * Warns of canned answers that were never used. A failed test took another way than its author thought, so its answers
 * are not judged; answers that the scenarios of a file share are judged when all of them have passed.
 */
export class UnusedAnswers {
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

import { compareWithExpectations } from './evaluate.ts';
import type { TestFindings } from './difference.ts';
import type { TestRun } from './run-scenario.ts';
import type { TestCase } from './suite.ts';
import { checkStaleness } from './staleness.ts';
import { collectRunWarnings } from './run-warnings.ts';

/** Looks at what came of a scenario: what is not as expected, what the run warned of, and what playing it has hidden. */
export async function evaluateTestRun(testCase: TestCase, testRun: TestRun): Promise<TestFindings> {
  const staleFindings = await checkStaleness(testCase, testRun);
  return {
    differences: [...compareWithExpectations(testCase.spec, testRun), ...staleFindings.differences],
    warnings: [...collectRunWarnings(testRun.events, testCase), ...staleFindings.warnings],
  };
}

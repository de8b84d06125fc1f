import { relative } from 'node:path';
import type { TestsDocument } from '../documents/types.ts';
import { allCoverageItems, type Coverage, type CoverageItem, coveredPercent } from './coverage.ts';
import type { DifferenceDetail } from './difference.ts';
import type { TestResult } from './run-tests.ts';
import type { TestCase, UnusableFile } from './suite.ts';

/** The outcome of all tests. */
export interface TestReport {
  readonly results: readonly TestResult[];
  readonly unusable: readonly UnusableFile[];
  /** Paths that were given and have no scenarios. */
  readonly untested: readonly string[];
  readonly tookMs: number;
  /** Null if coverage was not asked for. */
  readonly coverages: readonly Coverage[] | null;
  /** Null if all tests came to their end. */
  readonly interruption: Interruption | null;
}

/**
 * The tests that were running at an interruption, with the positions of their agents, and the number of those not
 * started.
 */
export interface Interruption {
  readonly interrupted: readonly { readonly testCase: TestCase; readonly positions: readonly string[] }[];
  readonly notStarted: number;
}

/** True if a test passed. */
export const hasPassed = ({ differences }: TestResult): boolean => differences.length === 0;

type ScenarioDocument = TestsDocument['scenarios'][number];
type TestCaseFields = Pick<ScenarioDocument, 'name' | 'file' | 'line' | 'workflow'>;
type CoverageDocument = NonNullable<TestsDocument['coverage']>;
type CoveredDocument = CoverageDocument['workflows'][number]['states'][number];

/** The `--json` document of all tests, with paths relative to this folder. */
export function serializeTestReport(report: TestReport, cwd: string): TestsDocument {
  const { results, unusable, untested, tookMs, coverages, interruption } = report;
  const passed = results.filter(hasPassed).length;
  return {
    passed,
    failed: results.length - passed,
    duration_ms: Math.round(tookMs),
    scenarios: results.map((result) => serializeResult(result, cwd)),
    unusable: unusable.map(({ file, error }) => ({ file, error: error.message })),
    without_scenarios: untested,
    ...(interruption !== null && {
      interrupted: interruption.interrupted.map(({ testCase, positions }) => ({
        ...identifyTestCase(testCase, cwd),
        where: positions,
      })),
      not_begun: interruption.notStarted,
    }),
    ...(coverages !== null && { coverage: serializeCoverage(coverages, cwd) }),
  };
}

function serializeResult(result: TestResult, cwd: string): ScenarioDocument {
  const { testCase, differences, warnings, tookMs, folder } = result;
  const { file } = testCase;
  return {
    ...identifyTestCase(testCase, cwd),
    passed: hasPassed(result),
    duration_ms: Math.round(tookMs),
    differences: differences.map(({ what, file: elsewhere = file, line, column, detail }) => {
      return { what, file: elsewhere, line, column, ...serializeDetail(detail) };
    }),
    warnings,
    ...(folder !== null && { folder }),
  };
}

const identifyTestCase = ({ file, spec, workflow }: TestCase, cwd: string): TestCaseFields => {
  return { name: spec.name, file, line: spec.at.line, workflow: relativePath(cwd, workflow.path) };
};

const relativePath = (cwd: string, path: string): string => relative(cwd, path) || '.';

function serializeDetail(
  detail: DifferenceDetail,
): Pick<ScenarioDocument['differences'][number], 'expected' | 'actual' | 'message'> {
  switch (detail.kind) {
    case 'parts':
      return { expected: { [detail.matcher]: detail.part }, actual: detail.actual };
    case 'problem':
      return { message: detail.message };
    default:
      return { expected: detail.expected, actual: detail.actual };
  }
}

function serializeCoverage(coverages: readonly Coverage[], cwd: string): CoverageDocument {
  return {
    percent: roundPercent(coveredPercent(allCoverageItems(coverages))),
    workflows: coverages.map((coverage) => ({
      workflow: relativePath(cwd, coverage.workflow.path),
      percent: roundPercent(coveredPercent(allCoverageItems([coverage]))),
      states: coverage.states.map(serializeItem),
      transitions: coverage.transitions.map(serializeItem),
      entries: coverage.entries.map(serializeItem),
      traffic: { states: coverage.traffic.states, ways: coverage.traffic.transitionCounts },
    })),
  };
}

/** An item that is a whole file is reported at line 1. */
const serializeItem = ({ file, line, label, times }: CoverageItem): CoveredDocument => {
  return { state: file, line: Math.max(1, line), label, times };
};

const roundPercent = (percent: number): number => Math.round(percent * 10) / 10;

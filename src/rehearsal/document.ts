import { relative } from 'node:path';
import type { Verdict } from './all.ts';
import { KINDS as COVERAGE_KINDS, type Coverage, everything, type Item, percentOf } from './coverage.ts';
import type { Detail } from './difference.ts';
import type { Piece, Unusable } from './repertoire.ts';

/** All that a test came to. */
export interface Outcome {
  readonly verdicts: readonly Verdict[];
  readonly unusable: readonly Unusable[];
  /** Paths that were named and have no scenarios. */
  readonly untested: readonly string[];
  readonly tookMs: number;
  /** Null if nobody asked for it. */
  readonly coverages: readonly Coverage[] | null;
  /** Null if it came to its end. */
  readonly interruption: Interruption | null;
}

/** What was under way when a test was interrupted, with where its agents stood, and how many had not begun. */
export interface Interruption {
  readonly cut: readonly { readonly piece: Piece; readonly where: readonly string[] }[];
  readonly notBegun: number;
}

export const hasPassed = ({ differences }: Verdict): boolean => differences.length === 0;

/** A whole test as one document, all paths in it as one would write them in this folder. */
export function documentOf(outcome: Outcome, cwd: string): unknown {
  const { verdicts, unusable, untested, tookMs, coverages, interruption } = outcome;
  const passed = verdicts.filter(hasPassed).length;
  return {
    passed,
    failed: verdicts.length - passed,
    duration_ms: Math.round(tookMs),
    scenarios: verdicts.map((verdict) => scenarioOf(verdict, cwd)),
    unusable: unusable.map(({ file, error }) => ({ file, error: error.message })),
    without_scenarios: untested,
    ...(interruption !== null && {
      interrupted: interruption.cut.map(({ piece, where }) => ({ ...nameOf(piece, cwd), where })),
      not_begun: interruption.notBegun,
    }),
    ...(coverages !== null && { coverage: coverageOf(coverages, cwd) }),
  };
}

function scenarioOf(verdict: Verdict, cwd: string): unknown {
  const { piece, differences, warnings, tookMs, folder } = verdict;
  const { file } = piece;
  return {
    ...nameOf(piece, cwd),
    passed: hasPassed(verdict),
    duration_ms: Math.round(tookMs),
    differences: differences.map(({ what, file: elsewhere = file, line, column, detail }) => {
      return { what, file: elsewhere, line, column, ...detailOf(detail) };
    }),
    warnings,
    ...(folder !== null && { folder }),
  };
}

const nameOf = ({ file, rehearsal, workflow }: Piece, cwd: string): object => {
  return { name: rehearsal.name, file, line: rehearsal.at.line, workflow: pathFrom(cwd, workflow.path) };
};

const pathFrom = (cwd: string, path: string): string => relative(cwd, path) || '.';

function detailOf(detail: Detail): object {
  switch (detail.kind) {
    case 'parts':
      return { expected: { [detail.wish]: detail.part }, actual: detail.actual };
    case 'trouble':
      return { message: detail.message };
    default:
      return { expected: detail.expected, actual: detail.actual };
  }
}

function coverageOf(coverages: readonly Coverage[], cwd: string): unknown {
  return {
    percent: rounded(percentOf(everything(coverages))),
    workflows: coverages.map((coverage) => ({
      workflow: pathFrom(cwd, coverage.workflow.path),
      percent: rounded(percentOf(everything([coverage]))),
      ...Object.fromEntries(COVERAGE_KINDS.map((kind) => [kind, coverage[kind].map(itemOf)])),
      traffic: coverage.traffic,
    })),
  };
}

/** A whole file begins in its first line. */
const itemOf = ({ file, line, label, times }: Item): unknown => {
  return { state: file, line: Math.max(1, line), label, times };
};

const rounded = (percent: number): number => Math.round(percent * 10) / 10;

import type { Verdict } from './all.ts';
import { KINDS as COVERAGE_KINDS, type Coverage, everything, type Item, percentOf } from './coverage.ts';
import type { Detail } from './difference.ts';
import type { Unusable } from './repertoire.ts';

/** All that a test came to. */
export interface Outcome {
  readonly verdicts: readonly Verdict[];
  readonly unusable: readonly Unusable[];
  /** Paths that were named and have no scenarios. */
  readonly untested: readonly string[];
  readonly tookMs: number;
  /** Null if nobody asked for it. */
  readonly coverages: readonly Coverage[] | null;
}

export const hasPassed = ({ differences }: Verdict): boolean => differences.length === 0;

/** A whole test as one document. */
export function documentOf({ verdicts, unusable, untested, tookMs, coverages }: Outcome): unknown {
  const passed = verdicts.filter(hasPassed).length;
  return {
    passed,
    failed: verdicts.length - passed,
    duration_ms: Math.round(tookMs),
    scenarios: verdicts.map(scenarioOf),
    unusable: unusable.map(({ file, error }) => ({ file, error: error.message })),
    without_scenarios: untested,
    ...(coverages !== null && { coverage: coverageOf(coverages) }),
  };
}

function scenarioOf(verdict: Verdict): unknown {
  const { piece, differences, warnings, tookMs, folder } = verdict;
  const { file, rehearsal, workflow } = piece;
  return {
    ...{ name: rehearsal.name, file, line: rehearsal.at.line, workflow: workflow.path, passed: hasPassed(verdict) },
    duration_ms: Math.round(tookMs),
    differences: differences.map(({ what, file: elsewhere = file, line, column, detail }) => {
      return { what, file: elsewhere, line, column, ...detailOf(detail) };
    }),
    warnings,
    ...(folder !== null && { folder }),
  };
}

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

function coverageOf(coverages: readonly Coverage[]): unknown {
  return {
    percent: rounded(percentOf(everything(coverages))),
    workflows: coverages.map((coverage) => ({
      workflow: coverage.workflow.path,
      percent: rounded(percentOf(everything([coverage]))),
      ...Object.fromEntries(COVERAGE_KINDS.map((kind) => [kind, coverage[kind].map(itemOf)])),
      traffic: coverage.traffic,
    })),
  };
}

const itemOf = ({ file, line, label, times }: Item): unknown => ({ state: file, line, label, times });

const rounded = (percent: number): number => Math.round(percent * 10) / 10;

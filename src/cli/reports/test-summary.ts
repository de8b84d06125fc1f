import { relative } from 'node:path';
import { formatCount } from '../../render/format.ts';
import { sanitizeLine } from '../../render/sanitize.ts';
import { type Column, renderTable } from '../../render/terminal/table.ts';
import { type LiveClock, type RenderContext, type Screen, SYSTEM_LIVE_CLOCK } from '../../render/terminal/terminal.ts';
import { createColorizer } from '../../render/text-style.ts';
import { padToWidth, shorten, widthOf, wrapText } from '../../render/text-width.ts';
import {
  allCoverageItems,
  COVERAGE_KINDS,
  type Coverage,
  type CoverageItem,
  coveredPercent,
} from '../../testing/coverage.ts';
import { hasPassed, type Interruption, type TestReport } from '../../testing/report.ts';
import type { TestCase } from '../../testing/suite.ts';
import { formatTestDuration, renderTestFailure, wrapIndented } from './test-result.ts';

/** Renders the scenarios that failed or were interrupted, and the files that cannot be used. */
export function renderTestProblems(
  { results, unusable, interruption }: TestReport,
  context: RenderContext,
): readonly string[] {
  return [
    ...(interruption === null ? [] : renderInterruptedTests(interruption, context)),
    ...renderUnusableFiles(unusable, context),
    ...results.filter((result) => !hasPassed(result)).flatMap((result) => ['', ...renderTestFailure(result, context)]),
  ];
}

/** Files with the same problem, such as a broken workflow, share its lines. */
function renderUnusableFiles(unusable: TestReport['unusable'], { columns }: RenderContext): readonly string[] {
  const errors = new Map(unusable.map(({ error }) => [error.message, error]));
  return Array.from(errors, ([message, { hint }]) => {
    const files = unusable.flatMap(({ file, error }) => (error.message === message ? file : []));
    const unnamedFiles = files.filter((file) => !message.startsWith(file));
    const place = unnamedFiles.length === 0 ? '' : `${unnamedFiles.join(', ')}: `;
    const lines = [...`${place}${message}`.split('\n'), ...(hint === undefined ? [] : [hint])];
    return ['', ...lines.flatMap((line) => wrapText(line, columns))];
  }).flat();
}

/** Renders the totals in a line or two. */
export function renderTestTotal(outcome: TestReport, { colorize, columns }: RenderContext): readonly string[] {
  const { results, unusable, untested, tookMs } = outcome;
  const unusableNote =
    unusable.length === 0 ? '' : colorize('red', `; ${formatCount(unusable.length, 'file')} cannot be used`);
  const warnings = new Set(results.flatMap((result) => result.warnings)).size;
  const warningNote = warnings === 0 ? '' : colorize('yellow', `; ${formatCount(warnings, 'warning')}`);
  const untestedNote =
    untested.length === 0 ? [] : [`There are no scenarios in ${untested.map(sanitizeLine).join(', ')}.`];
  const lines = [
    `${formatTestCounts(outcome, colorize)}${unusableNote}${warningNote} (${formatTestDuration(tookMs)})`,
    ...untestedNote.map((line) => colorize('dim', line)),
  ];
  return ['', ...lines.flatMap((line) => wrapText(line, columns))];
}

function formatTestCounts({ results, interruption }: TestReport, colorize: RenderContext['colorize']): string {
  const failed = results.filter((result) => !hasPassed(result)).length;
  const passed = results.length - failed;
  const counts = `${passed} passed, ${failed === 0 ? '0 failed' : colorize('red', `${failed} failed`)}`;
  if (interruption !== null) {
    const { interrupted, notStarted } = interruption;
    const unfinished = [
      interrupted.length > 0 ? `${interrupted.length} interrupted` : [],
      notStarted > 0 ? `${notStarted} not started` : [],
    ];
    return `${colorize('yellow', 'interrupted')}: ${[counts, ...unfinished.flat()].join(', ')}`;
  }
  if (results.length === 0) return 'no scenario was run';
  return `${formatCount(results.length, 'scenario')}: ${failed === 0 ? colorize('green', 'all passed') : counts}`;
}

/** Renders the scenarios that were interrupted, and where each of them was. */
function renderInterruptedTests({ interrupted }: Interruption, context: RenderContext): readonly string[] {
  return interrupted.flatMap(({ testCase: { file, spec }, positions }) => {
    const head = `${context.colorize('yellow', '!')} ${context.colorize('bold', sanitizeLine(spec.name))}  ${file}:${spec.at.line}`;
    const lines = positions.length === 0 ? ['it had just started'] : positions;
    return [
      '',
      ...wrapText(head, context.columns),
      ...lines.flatMap((line) => wrapIndented(`interrupted: ${line}`, '  ', context)),
    ];
  });
}

/** A line at the bottom of the screen that names the scenario that is awaited. */
interface TestProgressLine {
  testStarted(testCase: TestCase): void;
  testFinished(testCase: TestCase): void;
  /** Removes the line, so that something else can be printed. */
  clear(): void;
  close(): void;
}

const TICK_MS = 1000;
const CLEAR_LINE = '\r\u001b[K';

/** Creates a progress line. It appears only after a second without a result: most scenarios are faster. */
export function createTestProgressLine(
  screen: Screen,
  testCases: readonly TestCase[],
  clock: Pick<LiveClock, 'now' | 'every'> = SYSTEM_LIVE_CLOCK,
): TestProgressLine {
  const startedAt = new Map<TestCase, number>();
  let finishedCount = 0;
  let isShown = false;
  const clear = (): void => {
    if (isShown) screen.write(CLEAR_LINE);
    isShown = false;
  };
  const stopTimer = clock.every(TICK_MS, () => {
    const [first, ...others] = testCases.filter((testCase) => startedAt.has(testCase));
    if (first === undefined) return clear();
    const othersNote = others.length === 0 ? '' : ` and ${others.length} more`;
    const seconds = Math.round((clock.now() - (startedAt.get(first) ?? 0)) / 1000);
    const line = `${seconds} s: waiting for ${sanitizeLine(first.spec.name)}${othersNote} (${finishedCount} of ${testCases.length} done)`;
    screen.write(CLEAR_LINE + createColorizer(screen.color)('dim', shorten(line, screen.size().columns - 1)));
    isShown = true;
  });
  return {
    testStarted: (testCase) => void startedAt.set(testCase, clock.now()),
    testFinished(testCase) {
      startedAt.delete(testCase);
      finishedCount += 1;
    },
    clear,
    close() {
      stopTimer();
      clear();
    },
  };
}

type CoverageRow = Pick<Coverage, (typeof COVERAGE_KINDS)[number]> & { readonly name: string };

const COLUMNS: readonly Column<CoverageRow>[] = [
  { title: 'workflow', cell: ({ name }) => name },
  { title: 'states', align: 'right', cell: ({ states }) => formatShare(states) },
  { title: 'transitions', align: 'right', cell: ({ transitions }) => formatShare(transitions) },
  { title: 'policy entries', align: 'right', cell: ({ entries }) => formatShare(entries) },
  { title: 'covered', align: 'right', cell: (row) => formatPercent(COVERAGE_KINDS.flatMap((kind) => row[kind])) },
];

/** Renders how much of each workflow the scenarios covered, and below it everything that they never took. */
export function renderCoverage(coverages: readonly Coverage[], cwd: string, context: RenderContext): readonly string[] {
  const rows = coverages.map((coverage) => ({ ...coverage, name: relative(cwd, coverage.workflow.path) || '.' }));
  const all = {
    name: 'all',
    ...Object.fromEntries(COVERAGE_KINDS.map((kind) => [kind, rows.flatMap((row) => row[kind])])),
  } as CoverageRow;
  const untaken = coverages.flatMap((coverage) => listUntaken(coverage, cwd));
  return [
    ...renderCoverageTable(rows.length === 1 ? rows : [...rows, all], context),
    ...(untaken.length === 0 ? [] : ['Never taken:', ...untaken.map((line) => `  ${line}`)]),
  ];
}

/** Renders a table, or a block for each workflow if the table is too wide. */
function renderCoverageTable(rows: readonly CoverageRow[], context: RenderContext): readonly string[] {
  const table = renderTable(rows, COLUMNS, { ...context, columns: Number.POSITIVE_INFINITY });
  if (table.every((line) => widthOf(line) <= context.columns)) return table;
  const [name, ...numbers] = COLUMNS;
  const width = Math.max(...numbers.map(({ title }) => widthOf(title)));
  return rows.flatMap((row) => [
    name?.cell(row) ?? '',
    ...numbers.map(({ title, cell }) => `  ${context.colorize('dim', padToWidth(title, width))}  ${cell(row)}`),
  ]);
}

/** The share of everything that was covered, such as `87%`. */
export const formatTotalCoverage = (coverages: readonly Coverage[]): string =>
  formatPercent(allCoverageItems(coverages));

/** Rounded down, so that only full coverage is 100%. */
const formatPercent = (items: readonly CoverageItem[]): string => `${Math.floor(coveredPercent(items))}%`;

const formatShare = (items: readonly CoverageItem[]): string =>
  `${items.filter(({ times }) => times > 0).length}/${items.length}`;

/** Lists everything that was never taken, once each: a policy entry may also be a transition. */
function listUntaken(coverage: Coverage, cwd: string): readonly string[] {
  const { workflow } = coverage;
  const [states, transitions, entries] = COVERAGE_KINDS.map((kind) =>
    coverage[kind].filter(({ times }) => times === 0),
  );
  const transitionKeys = new Set(transitions?.map(formatLocationKey));
  const missing = [
    ...(states ?? []),
    ...(transitions ?? []),
    ...(entries ?? []).filter((entry) => !transitionKeys.has(formatLocationKey(entry))),
  ];
  const inOrder = missing.toSorted((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1));
  const lines = inOrder.map(({ file, line, label }) => {
    const path = sanitizeLine(relative(cwd, workflow.locate(file)));
    return line === 0 ? path : `${path}:${line}: ${sanitizeLine(label)}`;
  });
  return [...new Set(lines)];
}

const formatLocationKey = ({ file, line, label }: CoverageItem): string => `${file}:${line} ${label.split(' ')[0]}`;

import { formatCount } from '../../render/format.ts';
import { sanitize, sanitizeLine } from '../../render/sanitize.ts';
import type { RenderContext } from '../../render/terminal/terminal.ts';
import { wrapText } from '../../render/text-width.ts';
import { type Difference, type DifferenceDetail, type DiffLine, diffLists } from '../../testing/difference.ts';
import { REASON_LABEL } from '../../testing/matchers.ts';
import { hasPassed } from '../../testing/report.ts';
import type { TestResult } from '../../testing/run-tests.ts';

/** Formats a duration: `12 ms`, `3.4 s`. */
export const formatTestDuration = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;

/**
 * Renders one line about a scenario, one for its folder if that is kept, and its warnings that were not shown before.
 * The reasons of a failure follow later, in `renderTestFailure`.
 */
export function renderTestResult(
  result: TestResult,
  shownWarnings: Set<string>,
  context: RenderContext,
): readonly string[] {
  const { colorize } = context;
  const sign = hasPassed(result) ? colorize('green', '✓') : colorize('red', '✗');
  const { testCase, tookMs, folder, warnings } = result;
  const line = `${sign} ${sanitizeLine(testCase.spec.name)}  ${colorize('dim', formatTestDuration(tookMs))}`;
  return [
    ...wrapIndented(line, '  ', context),
    ...(folder === null ? [] : [INDENT + colorize('dim', folder)]),
    ...(hasPassed(result) ? renderNewWarnings(warnings, shownWarnings, context) : []),
  ];
}

/** Renders a few warnings that were not shown before, and the numbers of the others. */
function renderNewWarnings(
  warnings: readonly string[],
  shownWarnings: Set<string>,
  context: RenderContext,
): readonly string[] {
  const newWarnings = warnings.filter((warning) => !shownWarnings.has(warning));
  const shownNow = newWarnings.slice(0, MAX_WARNINGS);
  for (const warning of shownNow) shownWarnings.add(warning);
  const [repeatedCount, hiddenCount] = [warnings.length - newWarnings.length, newWarnings.length - shownNow.length];
  return [
    ...renderWarnings(shownNow, INDENT, context),
    ...(hiddenCount === 0
      ? []
      : [INDENT + context.colorize('dim', `… ${formatCount(hiddenCount, 'more warning')}: --json shows all`)]),
    ...(repeatedCount === 0
      ? []
      : [INDENT + context.colorize('dim', `${formatCount(repeatedCount, 'warning')} as above`)]),
  ];
}

/** Renders everything that is wrong with a scenario. */
export function renderTestFailure(
  { testCase, differences, warnings }: TestResult,
  context: RenderContext,
): readonly string[] {
  const { file, spec } = testCase;
  const quoted = new Set<string>();
  const head = `${context.colorize('red', '✗')} ${context.colorize('bold', sanitizeLine(spec.name))}  ${file}:${spec.at.line}`;
  return [
    ...wrapText(head, context.columns),
    ...differences.flatMap((difference) => renderDifference(difference, file, context, quoted)),
    ...renderWarnings(warnings, '  ', context),
  ];
}

const INDENT = '    ';

/** More would bury the results. */
const MAX_WARNINGS = 3;

const renderWarnings = (warnings: readonly string[], indent: string, context: RenderContext): readonly string[] =>
  warnings.flatMap((warning) =>
    wrapIndented(context.colorize('dim', `warning: ${sanitizeLine(warning)}`), indent, context),
  );

/** Wraps a text and indents all its lines. */
export const wrapIndented = (text: string, indent: string, { columns }: RenderContext): readonly string[] =>
  wrapText(text, columns - indent.length).map((line) => indent + line);

/** A text that was quoted already is not quoted again. */
function renderDifference(
  difference: Difference,
  scenario: string,
  context: RenderContext,
  quoted: Set<string>,
): readonly string[] {
  const { what, file = scenario, line, column, detail } = difference;
  const atLocation = (sentence: string): readonly string[] =>
    wrapIndented(`${file}:${line}:${column}: ${sentence}`, '  ', context);
  switch (detail.kind) {
    case 'problem': {
      const [first = '', ...rest] = sanitize(detail.message).split('\n');
      if (what === REASON_LABEL) return [first, ...rest].flatMap((each) => wrapIndented(each, INDENT, context));
      return [...atLocation(context.colorize('red', first)), ...rest.map((each) => INDENT + each)];
    }
    case 'values':
      return atLocation(
        `${what} should be ${formatValue(detail, 'expected')}, but is ${context.colorize('red', formatValue(detail, 'actual'))}`,
      );
    case 'parts':
      return [
        ...atLocation(`${what} ${EXPECTATION_PHRASES[detail.matcher]} ${quoteText(detail.part)}`),
        ...(quoted.size < quoted.add(detail.actual).size
          ? renderQuote(detail.actual, context)
          : [INDENT + context.colorize('dim', '| the text above')]),
      ];
    default:
      return [
        ...atLocation(`${what} is not as expected (- expected, + actual)`),
        ...renderDiff(diffDetail(detail), context),
      ];
  }
}

type ValueDifference = Extract<DifferenceDetail, { kind: 'values' }>;

function formatValue({ unit, ...detail }: ValueDifference, which: 'expected' | 'actual'): string {
  if (unit === undefined) return String(detail[which]);
  const decimals = Math.max(2, ...[detail.expected, detail.actual].map(countDecimals));
  return `${unit}${Number(detail[which]).toFixed(decimals)}`;
}

/** The decimals of an amount of money, which is exact to a millionth. */
const countDecimals = (amount: ValueDifference['actual']): number =>
  Number(amount).toFixed(6).replace(/0+$/, '').split('.')[1]?.length ?? 0;

const EXPECTATION_PHRASES = {
  contains: 'should contain',
  lacks: 'should not contain',
  matches: 'should match',
} as const;

const quoteText = (text: string): string => `\`${sanitizeLine(text)}\``;

function diffDetail(detail: Extract<DifferenceDetail, { kind: 'lists' | 'texts' }>): readonly DiffLine[] {
  if (detail.kind === 'lists') return diffLists(detail.expected, detail.actual);
  return diffLists(sanitize(detail.expected).split('\n'), sanitize(detail.actual).split('\n')).map(({ sign, text }) => {
    return { sign, text: sign === ' ' ? text : showBlanks(text) };
  });
}

/** Makes blanks at the end of a line and empty lines visible. */
const showBlanks = (line: string): string =>
  line === '' ? '↵' : line.replace(/ +$/, (blanks) => '·'.repeat(blanks.length));

/** The number of equal lines shown before and after a change. */
const CONTEXT_LINES = 4;

function renderDiff(lines: readonly DiffLine[], { colorize }: RenderContext): readonly string[] {
  const isNear = lines.map((_, at) =>
    lines.slice(Math.max(0, at - CONTEXT_LINES), at + CONTEXT_LINES + 1).some(isChange),
  );
  const isLoneLine = (at: number): boolean => isNear[at - 1] !== false && isNear[at + 1] !== false;
  const shown: string[] = [];
  let skippedCount = 0;
  for (const [at, line] of lines.entries()) {
    // A single line takes no more room than the note that would replace it.
    const isShown = isNear[at] || isLoneLine(at);
    if (!isShown) skippedCount += 1;
    if (skippedCount > 0 && (isShown || at === lines.length - 1))
      shown.push(INDENT + colorize('dim', `… ${skippedCount} the same`));
    if (!isShown) continue;
    skippedCount = 0;
    const text = `${INDENT}${line.sign} ${line.text}`.trimEnd();
    shown.push(line.sign === ' ' ? text : colorize(line.sign === '-' ? 'red' : 'green', text));
  }
  return shown;
}

const isChange = ({ sign }: DiffLine): boolean => sign !== ' ';

const MAX_QUOTED_LINES = 20;

/** Renders the beginning of a text that was compared. */
function renderQuote(text: string, { colorize }: RenderContext): readonly string[] {
  const lines = sanitize(text).trimEnd().split('\n');
  const hiddenCount = lines.length - MAX_QUOTED_LINES;
  return [
    ...lines.slice(0, MAX_QUOTED_LINES).map((line) => `${INDENT}${colorize('dim', '|')} ${line}`.trimEnd()),
    ...(hiddenCount > 0 ? [INDENT + colorize('dim', `… ${formatCount(hiddenCount, 'more line')}`)] : []),
  ];
}

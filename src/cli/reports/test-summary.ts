import { formatCount } from '../../render/format.ts';
import { sanitizeLine } from '../../render/sanitize.ts';
import type { RenderContext } from '../../render/terminal/render-context.ts';
import { wrapText } from '../../render/text-width.ts';
import { hasPassed, type Interruption, type TestReport } from '../../testing/report.ts';
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

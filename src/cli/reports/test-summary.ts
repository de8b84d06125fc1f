import { formatCount } from '../../events/format.ts';
import { sanitizeLine } from '../../events/sanitize.ts';
import { wrapText } from '../../events/text-width.ts';
import type { RenderContext } from '../../terminal/render-context.ts';
import { hasPassed, type Interruption, type TestReport } from '../../testing/report.ts';
import { formatTestDuration, renderTestFailure, wrapIndented } from './test-result.ts';

/** What failed, or came to no end, in detail. */
export function renderTestProblems(
  { results, unusable, interruption }: TestReport,
  context: RenderContext,
): readonly string[] {
  return [
    ...(interruption === null ? [] : renderInterruptedTests(interruption, context)),
    ...renderUnusableFiles(unusable, context),
    ...results
      .filter((verdict) => !hasPassed(verdict))
      .flatMap((verdict) => ['', ...renderTestFailure(verdict, context)]),
  ];
}

/** Files that have the same fault, such as that of their workflow, share its lines. */
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

/** What the test came to, in a line or two. */
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
    const { interrupted, notStarted: notBegun } = interruption;
    const unfinished = [
      interrupted.length > 0 ? `${interrupted.length} interrupted` : [],
      notBegun > 0 ? `${notBegun} not begun` : [],
    ];
    return `${colorize('yellow', 'interrupted')}: ${[counts, ...unfinished.flat()].join(', ')}`;
  }
  if (results.length === 0) return 'no scenario was played';
  return `${formatCount(results.length, 'scenario')}: ${failed === 0 ? colorize('green', 'all passed') : counts}`;
}

/** What was under way when the user had enough, and where it stood. */
function renderInterruptedTests({ interrupted }: Interruption, context: RenderContext): readonly string[] {
  return interrupted.flatMap(({ testCase: { file, spec: rehearsal }, positions: where }) => {
    const head = `${context.colorize('yellow', '!')} ${context.colorize('bold', sanitizeLine(rehearsal.name))}  ${file}:${rehearsal.at.line}`;
    const lines = where.length === 0 ? ['it had hardly begun'] : where;
    return [
      ...['', ...wrapText(head, context.columns)],
      ...lines.flatMap((line) => wrapIndented(`interrupted: ${line}`, '  ', context)),
    ];
  });
}

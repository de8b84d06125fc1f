import { formatCount } from '../../events/format.ts';
import { sanitizeLine } from '../../events/sanitize.ts';
import type { TextStyle } from '../../events/text-style.ts';
import type { PathStep } from '../../graph/reachability.ts';
import type { LintFinding } from '../../lint/lint.ts';
import { formatStepPath } from '../../lint/messages.ts';
import type { LintLevel } from '../../lint/rule.ts';
import { countLevels, type LintReport } from '../../runtime/lint-workflow.ts';
import type { RenderContext } from '../../terminal/render-context.ts';

/** Breaks a text into lines that are not too long. */
export type TextWrapper = (text: string, columns: number) => readonly string[];

/** What was found in one workflow, for people; only these levels are shown. */
export function renderLintReport(
  { path, findings }: LintReport,
  levels: readonly LintLevel[],
  context: RenderContext,
  wrap: TextWrapper,
): readonly string[] {
  const { colorize, columns } = context;
  const shown = findings.filter(({ level }) => levels.includes(level));
  const hidden = countLevels(findings.filter(({ level }) => !levels.includes(level)));
  const summary =
    shown.length === 0 ? colorize('green', describeNoFindings(levels, hidden)) : formatLevelCounts(countLevels(shown));
  const head = wrap(`${colorize('bold', sanitizeLine(path))}: ${summary}`, columns);
  return [...head, ...shown.flatMap((finding) => renderFinding(finding, context, wrap))];
}

/** That nothing is shown does not say that there is nothing. */
function describeNoFindings(levels: readonly LintLevel[], hidden: Readonly<Record<LintLevel, number>>): string {
  const others = formatLevelCounts(hidden);
  return others === NOTHING_FOUND
    ? NOTHING_FOUND
    : `no ${levels.map((level) => `${level}s`).join(' or ')} (${others} not shown)`;
}

/** The end of the page: all workflows together, and what was not shown. */
export function formatLintTotal(reports: readonly LintReport[], levels: readonly LintLevel[]): string {
  const findings = reports.flatMap((report) => report.findings);
  const counts = countLevels(findings);
  const hidden = findings.filter(({ level }) => !levels.includes(level)).length;
  const hiddenNote = hidden === 0 ? '' : ` (${hidden} of them not shown)`;
  return `${formatCount(reports.length, 'workflow')}: ${formatLevelCounts(counts)}${hiddenNote}.`;
}

const LEVEL_STYLES: Readonly<Record<LintLevel, TextStyle>> = { error: 'red', warning: 'yellow', info: 'cyan' };

const NOTHING_FOUND = 'nothing found';

const INDENT = '  ';

/** `FILE:LINE:COLUMN: level: sentence (rule)`, a form that editors and terminals make a link of, and below it what to do. */
function renderFinding(
  finding: LintFinding,
  { columns, colorize }: RenderContext,
  wrap: TextWrapper,
): readonly string[] {
  const { level, rule, message, hint } = finding;
  const head = `${formatFindingLocation(finding)}: ${colorize(LEVEL_STYLES[level], level)}: ${sanitizeLine(message)} ${colorize('dim', `(${rule})`)}`;
  const example = formatExample(finding);
  const below = [sanitizeLine(hint), ...(example === null ? [] : [`Example: ${example}`])];
  return [
    ...wrap(head, columns),
    ...below.flatMap((text) => wrap(text, columns - INDENT.length)).map((line) => INDENT + colorize('dim', line)),
  ];
}

/** Where a finding is. */
function formatFindingLocation({ file, line, column }: LintFinding): string {
  return line === 0 ? sanitizeLine(file) : `${sanitizeLine(file)}:${line}:${column}`;
}

/** The whole example, unless the message tells it already, be it in two parts. */
function formatExample({ message, path }: LintFinding): string | null {
  const isInMessage = path.every(({ to }) => message.includes(`→ ${to}`));
  return isInMessage ? null : sanitizeLine(formatFullPath(path));
}

/** In a sentence, the middle of a long way is left out. Here there is room for it. */
const MAX_STEPS_AT_ONCE = 5;

function formatFullPath(steps: readonly PathStep[]): string {
  const [first] = steps;
  if (first === undefined) return '';
  const parts = Array.from({ length: Math.ceil(steps.length / MAX_STEPS_AT_ONCE) }, (_, part) =>
    steps.slice(part * MAX_STEPS_AT_ONCE, (part + 1) * MAX_STEPS_AT_ONCE),
  );
  return first.from + parts.map((part) => formatStepPath(part, '').slice(part[0]?.from.length)).join('');
}

/** `2 errors, 1 warning`. */
function formatLevelCounts(counts: Readonly<Record<LintLevel, number>>): string {
  const parts = (['error', 'warning', 'info'] as const).flatMap((level) =>
    counts[level] === 0 ? [] : [formatCount(counts[level], level)],
  );
  return parts.length === 0 ? NOTHING_FOUND : parts.join(', ');
}

const ANNOTATION_COMMANDS: Readonly<Record<LintLevel, string>> = { error: 'error', warning: 'warning', info: 'notice' };

/** A finding as a command that GitHub Actions makes an annotation of, in the file and in the summary of the job. */
export function formatAnnotation(finding: LintFinding, { path, isZip }: Pick<LintReport, 'path' | 'isZip'>): string {
  const { level, rule, file, line, column, message, hint } = finding;
  // What is inside a zip is no file of the repository: the zip is.
  const position = line === 0 || isZip ? [] : [`line=${line}`, `col=${column}`];
  const locationPrefix = isZip && file !== path ? `${formatFindingLocation(finding)}: ` : '';
  const annotatedFile = isZip ? path : file;
  const properties = [
    `file=${escapeProperty(annotatedFile.replaceAll('\\', '/'))}`,
    ...position,
    `title=${escapeProperty(rule)}`,
  ];
  const text = `${locationPrefix}${sanitizeLine(message).replace(/\.$/, '')}. ${sanitizeLine(hint)}`;
  return `::${ANNOTATION_COMMANDS[level]} ${properties.join(',')}::${escapeData(text)}`;
}

const escapeData = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

const escapeProperty = (text: string): string => escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

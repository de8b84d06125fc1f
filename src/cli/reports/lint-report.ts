import { readFileSync } from 'node:fs';
import { countLevels, type LintReport } from '../../app/workflows/lint-workflow.ts';
import type { PathStep } from '../../graph/reachability.ts';
import { didYouMean } from '../../language/text/nearest.ts';
import type { LintFinding } from '../../lint/lint.ts';
import { formatStepPath } from '../../lint/messages.ts';
import type { LintLevel } from '../../lint/rule.ts';
import { resolvePackageFile } from '../../package-files.ts';
import { formatCount } from '../../render/format.ts';
import { sanitizeLine } from '../../render/sanitize.ts';
import type { RenderContext } from '../../render/terminal/terminal.ts';
import type { TextStyle } from '../../render/text-style.ts';
import { usageError } from '../command.ts';

/** Wraps a text into lines of at most so many columns. */
export type TextWrapper = (text: string, columns: number) => readonly string[];

/** Renders the findings of these levels in one workflow. */
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

/** Says that nothing is shown, and what is hidden. */
function describeNoFindings(levels: readonly LintLevel[], hidden: Readonly<Record<LintLevel, number>>): string {
  const others = formatLevelCounts(hidden);
  return others === NOTHING_FOUND
    ? NOTHING_FOUND
    : `no ${levels.map((level) => `${level}s`).join(' or ')} (${others} not shown)`;
}

/** Formats the totals of all workflows. */
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

/** Renders `FILE:LINE:COLUMN: level: message (rule)`, which editors and terminals turn into a link, and the hint below. */
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

function formatFindingLocation({ file, line, column }: LintFinding): string {
  return line === 0 ? sanitizeLine(file) : `${sanitizeLine(file)}:${line}:${column}`;
}

/** The path that the finding is about; null if the message already shows all of it. */
function formatExample({ message, path }: LintFinding): string | null {
  const isInMessage = path.every(({ to }) => message.includes(`→ ${to}`));
  return isInMessage ? null : sanitizeLine(formatFullPath(path));
}

/** `formatStepPath` leaves out the middle of a longer path; here there is room for all of it. */
const MAX_STEPS_AT_ONCE = 5;

function formatFullPath(steps: readonly PathStep[]): string {
  const [first] = steps;
  if (first === undefined) return '';
  const parts = Array.from({ length: Math.ceil(steps.length / MAX_STEPS_AT_ONCE) }, (_, part) =>
    steps.slice(part * MAX_STEPS_AT_ONCE, (part + 1) * MAX_STEPS_AT_ONCE),
  );
  return first.from + parts.map((part) => formatStepPath(part, '').slice(part[0]?.from.length)).join('');
}

/** Formats counts: `2 errors, 1 warning`. */
function formatLevelCounts(counts: Readonly<Record<LintLevel, number>>): string {
  const parts = (['error', 'warning', 'info'] as const).flatMap((level) =>
    counts[level] === 0 ? [] : [formatCount(counts[level], level)],
  );
  return parts.length === 0 ? NOTHING_FOUND : parts.join(', ');
}

const ANNOTATION_COMMANDS: Readonly<Record<LintLevel, string>> = { error: 'error', warning: 'warning', info: 'notice' };

/** Formats a finding as a workflow command of GitHub Actions, which becomes an annotation of the file. */
export function formatAnnotation(finding: LintFinding, { path, isZip }: Pick<LintReport, 'path' | 'isZip'>): string {
  const { level, rule, file, line, column, message, hint } = finding;
  // A file inside a zip is not a file of the repository: the zip is annotated.
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

const LINT_DOCS = resolvePackageFile('docs/lint.md');
const LINT_DOCS_HINT = `All rules are explained in ${LINT_DOCS}.`;

/** Renders the section of docs/lint.md about a rule. */
export function renderRuleExplanation(rule: string, columns: number, wrap: TextWrapper): readonly string[] {
  const sections = readFileSync(LINT_DOCS, 'utf8').split(/^(?=##+ )/m);
  const rules = sections.flatMap((section) => /^### (\S+)\n/.exec(section)?.[1] ?? []);
  const section = sections.find((each) => each.startsWith(`### ${rule}\n`));
  if (section === undefined) throw usageError(`lint has no rule \`${rule}\`${didYouMean(rule, rules)}`, LINT_DOCS_HINT);
  const text = section.replace(/^### .*\n+\*\*(\w+)\.\*\* /, `${rule} ($1)\n\n`);
  // Prose and code alternate: every second fence closes a block.
  const parts = text
    .split(/^```.*\n/m)
    .map((part, at) => (at % 2 === 0 ? wrapProse(part, columns, wrap) : indentCode(part)));
  return [...parts.filter((part) => part !== ''), LINT_DOCS_HINT].join('\n\n').split('\n');
}

function wrapProse(text: string, columns: number, wrap: TextWrapper): string {
  const paragraphs = text.trim().split(/\n{2,}/);
  return paragraphs
    .map((each) => wrap(each.replaceAll('\n', ' ').replaceAll('**', ''), columns).join('\n'))
    .join('\n\n');
}

const indentCode = (code: string): string => code.trimEnd().replace(/^(?=.)/gm, '    ');

import type { LintFinding } from '../analysis/lint.ts';
import type { Step } from '../analysis/reach.ts';
import type { Level } from '../analysis/rule.ts';
import { sayPath } from '../analysis/words.ts';
import { oneLine } from '../observers/harmless.ts';
import type { Ink } from '../observers/ink.ts';
import { counted } from '../observers/words.ts';
import { countLevels, type LintReport } from '../raymond/lint.ts';
import type { Page } from './page.ts';

/** Breaks a text into lines that are not too long. */
export type Wrap = (text: string, columns: number) => readonly string[];

/** What was found in one workflow, for people; only these levels are shown. */
export function lintPage(
  { path, findings }: LintReport,
  levels: readonly Level[],
  page: Page,
  wrap: Wrap,
): readonly string[] {
  const { dye, columns } = page;
  const shown = findings.filter(({ level }) => levels.includes(level));
  const hidden = countLevels(findings.filter(({ level }) => !levels.includes(level)));
  const verdict = shown.length === 0 ? dye('green', sayNothing(levels, hidden)) : sayCounts(countLevels(shown));
  const head = wrap(`${dye('bold', oneLine(path))}: ${verdict}`, columns);
  return [...head, ...shown.flatMap((finding) => linesOf(finding, page, wrap))];
}

/** That nothing is shown does not say that there is nothing. */
function sayNothing(levels: readonly Level[], hidden: Readonly<Record<Level, number>>): string {
  const others = sayCounts(hidden);
  return others === NOTHING ? NOTHING : `no ${levels.map((level) => `${level}s`).join(' or ')} (${others} not shown)`;
}

/** The end of the page: all workflows together, and what was not shown. */
export function lintTotal(reports: readonly LintReport[], levels: readonly Level[]): string {
  const findings = reports.flatMap((report) => report.findings);
  const counts = countLevels(findings);
  const hidden = findings.filter(({ level }) => !levels.includes(level)).length;
  const aside = hidden === 0 ? '' : ` (${hidden} of them not shown)`;
  return `${counted(reports.length, 'workflow')}: ${sayCounts(counts)}${aside}.`;
}

const INKS: Readonly<Record<Level, Ink>> = { error: 'red', warning: 'yellow', info: 'cyan' };

const NOTHING = 'nothing found';

const INDENT = '  ';

/** `FILE:LINE:COLUMN: level: sentence (rule)`, a form that editors and terminals make a link of, and below it what to do. */
function linesOf(finding: LintFinding, { columns, dye }: Page, wrap: Wrap): readonly string[] {
  const { level, rule, message, hint } = finding;
  const head = `${placeOf(finding)}: ${dye(INKS[level], level)}: ${oneLine(message)} ${dye('dim', `(${rule})`)}`;
  const example = exampleOf(finding);
  const below = [oneLine(hint), ...(example === null ? [] : [`Example: ${example}`])];
  return [
    ...wrap(head, columns),
    ...below.flatMap((text) => wrap(text, columns - INDENT.length)).map((line) => INDENT + dye('dim', line)),
  ];
}

/** Where a finding is. */
export function placeOf({ file, line, column }: LintFinding): string {
  return line === 0 ? oneLine(file) : `${oneLine(file)}:${line}:${column}`;
}

/** The whole example, unless the message tells it already, be it in two parts. */
function exampleOf({ message, path }: LintFinding): string | null {
  const isTold = path.every(({ to }) => message.includes(`→ ${to}`));
  return isTold ? null : oneLine(sayWhole(path));
}

/** In a sentence, the middle of a long way is left out. Here there is room for it. */
const MOST_AT_ONCE = 5;

function sayWhole(steps: readonly Step[]): string {
  const [first] = steps;
  if (first === undefined) return '';
  const parts = Array.from({ length: Math.ceil(steps.length / MOST_AT_ONCE) }, (_, part) =>
    steps.slice(part * MOST_AT_ONCE, (part + 1) * MOST_AT_ONCE),
  );
  return first.from + parts.map((part) => sayPath(part, '').slice(part[0]?.from.length)).join('');
}

/** `2 errors, 1 warning`. */
function sayCounts(counts: Readonly<Record<Level, number>>): string {
  const said = (['error', 'warning', 'info'] as const).flatMap((level) =>
    counts[level] === 0 ? [] : [counted(counts[level], level)],
  );
  return said.length === 0 ? NOTHING : said.join(', ');
}

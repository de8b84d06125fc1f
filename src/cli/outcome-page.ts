import { wrapped } from '../observers/fit.ts';
import { oneLine } from '../observers/harmless.ts';
import { counted } from '../observers/words.ts';
import { hasPassed, type Interruption, type Outcome } from '../rehearsal/document.ts';
import type { Page } from './page.ts';
import { detailLines, howLong, indented } from './verdict-page.ts';

/** What failed, or came to no end, in detail. */
export function troubleLines({ verdicts, unusable, interruption }: Outcome, page: Page): readonly string[] {
  return [
    ...(interruption === null ? [] : cutLines(interruption, page)),
    ...unusableLines(unusable, page),
    ...verdicts.filter((verdict) => !hasPassed(verdict)).flatMap((verdict) => ['', ...detailLines(verdict, page)]),
  ];
}

/** Files that have the same fault, such as that of their workflow, share its lines. */
function unusableLines(unusable: Outcome['unusable'], { columns }: Page): readonly string[] {
  const errors = new Map(unusable.map(({ error }) => [error.message, error]));
  return Array.from(errors, ([message, { hint }]) => {
    const files = unusable.flatMap(({ file, error }) => (error.message === message ? file : []));
    const named = files.filter((file) => !message.startsWith(file));
    const place = named.length === 0 ? '' : `${named.join(', ')}: `;
    const lines = [...`${place}${message}`.split('\n'), ...(hint === undefined ? [] : [hint])];
    return ['', ...lines.flatMap((line) => wrapped(line, columns))];
  }).flat();
}

/** What the test came to, in a line or two. */
export function totalLines(outcome: Outcome, { dye, columns }: Page): readonly string[] {
  const { verdicts, unusable, untested, tookMs } = outcome;
  const broken = unusable.length === 0 ? '' : dye('red', `; ${counted(unusable.length, 'file')} cannot be used`);
  const warnings = new Set(verdicts.flatMap((verdict) => verdict.warnings)).size;
  const warned = warnings === 0 ? '' : dye('yellow', `; ${counted(warnings, 'warning')}`);
  const without = untested.length === 0 ? [] : [`There are no scenarios in ${untested.map(oneLine).join(', ')}.`];
  const lines = [
    `${totalOf(outcome, dye)}${broken}${warned} (${howLong(tookMs)})`,
    ...without.map((line) => dye('dim', line)),
  ];
  return ['', ...lines.flatMap((line) => wrapped(line, columns))];
}

function totalOf({ verdicts, interruption }: Outcome, dye: Page['dye']): string {
  const failed = verdicts.filter((verdict) => !hasPassed(verdict)).length;
  const passed = verdicts.length - failed;
  const some = `${passed} passed, ${failed === 0 ? '0 failed' : dye('red', `${failed} failed`)}`;
  if (interruption !== null) {
    const { cut, notBegun } = interruption;
    const left = [cut.length > 0 ? `${cut.length} interrupted` : [], notBegun > 0 ? `${notBegun} not begun` : []];
    return `${dye('yellow', 'interrupted')}: ${[some, ...left.flat()].join(', ')}`;
  }
  if (verdicts.length === 0) return 'no scenario was played';
  return `${counted(verdicts.length, 'scenario')}: ${failed === 0 ? dye('green', 'all passed') : some}`;
}

/** What was under way when the user had enough, and where it stood. */
function cutLines({ cut }: Interruption, page: Page): readonly string[] {
  return cut.flatMap(({ piece: { file, rehearsal }, where }) => {
    const head = `${page.dye('yellow', '!')} ${page.dye('bold', oneLine(rehearsal.name))}  ${file}:${rehearsal.at.line}`;
    const lines = where.length === 0 ? ['it had hardly begun'] : where;
    return [
      ...['', ...wrapped(head, page.columns)],
      ...lines.flatMap((line) => indented(`interrupted: ${line}`, '  ', page)),
    ];
  });
}

import { harmless, oneLine } from '../observers/harmless.ts';
import { counted } from '../observers/words.ts';
import type { Verdict } from '../rehearsal/all.ts';
import { diff, type Line } from '../rehearsal/diff.ts';
import type { Detail, Difference } from '../rehearsal/difference.ts';
import { hasPassed } from '../rehearsal/document.ts';
import type { Page } from './page.ts';

/** `12 ms`, `3.4 s`. */
export const howLong = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

/** One line about a scenario, and another where its folder is kept. */
export function verdictLines(verdict: Verdict, { dye }: Page): readonly string[] {
  const sign = hasPassed(verdict) ? dye('green', '✓') : dye('red', '✗');
  const { piece, tookMs, folder } = verdict;
  const line = `  ${sign} ${oneLine(piece.rehearsal.name)}  ${dye('dim', howLong(tookMs))}`;
  return [line, ...(folder === null ? [] : [`    ${dye('dim', folder)}`])];
}

/** All that is wrong with a scenario. */
export function detailLines({ piece, differences }: Verdict, page: Page): readonly string[] {
  const { file, rehearsal } = piece;
  const head = `${page.dye('red', '✗')} ${page.dye('bold', oneLine(rehearsal.name))}  ${file}:${rehearsal.at.line}`;
  return [head, ...differences.flatMap((difference) => differenceLines(difference, file, page))];
}

const INDENT = '    ';

function differenceLines({ what, line, column, detail }: Difference, file: string, page: Page): readonly string[] {
  const place = `  ${file}:${line}:${column}: `;
  switch (detail.kind) {
    case 'trouble': {
      const [first = '', ...rest] = harmless(detail.message).split('\n');
      const lead = what === 'it' ? '  ' : place;
      return [`${lead}${page.dye('red', first)}`, ...rest.map((each) => INDENT + each)];
    }
    case 'values':
      return [
        `${place}${what} should be ${shown(detail, 'expected')}, but is ${page.dye('red', shown(detail, 'actual'))}`,
      ];
    case 'parts':
      return [`${place}${what} ${WISHES[detail.wish]} ${quoted(detail.part)}`, ...quote(detail.actual, page)];
    default:
      return [`${place}${what} is not as expected (- expected, + actual)`, ...diffLines(linesOf(detail), page)];
  }
}

const shown = (detail: Extract<Detail, { kind: 'values' }>, which: 'expected' | 'actual'): string =>
  `${detail.unit ?? ''}${detail[which]}`;

const WISHES = { contains: 'should contain', lacks: 'should not contain', matches: 'should match' } as const;

const quoted = (text: string): string => `\`${oneLine(text)}\``;

function linesOf(detail: Extract<Detail, { kind: 'lists' | 'texts' }>): readonly Line[] {
  if (detail.kind === 'lists') return diff(detail.expected, detail.actual);
  return diff(harmless(detail.expected).split('\n'), harmless(detail.actual).split('\n')).map(({ sign, text }) => {
    return { sign, text: sign === ' ' ? text : visible(text) };
  });
}

/** What could be overlooked: blanks at the end of a line, and a line that is empty. */
const visible = (line: string): string =>
  line === '' ? '↵' : line.replace(/ +$/, (blanks) => '·'.repeat(blanks.length));

/** So many lines that are the same stand around those that are not. */
const AROUND = 4;

function diffLines(lines: readonly Line[], { dye }: Page): readonly string[] {
  const isNear = lines.map((_, at) => lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(isChange));
  const shown: string[] = [];
  let left = 0;
  for (const [at, line] of lines.entries()) {
    if (!isNear[at]) left += 1;
    if (left > 0 && (isNear[at] || at === lines.length - 1)) shown.push(INDENT + dye('dim', `… ${left} the same`));
    if (!isNear[at]) continue;
    left = 0;
    const text = `${INDENT}${line.sign} ${line.text}`.trimEnd();
    shown.push(line.sign === ' ' ? text : dye(line.sign === '-' ? 'red' : 'green', text));
  }
  return shown;
}

const isChange = ({ sign }: Line): boolean => sign !== ' ';

const MOST_QUOTED = 20;

/** A text that was compared, as far as it is not too long. */
function quote(text: string, { dye }: Page): readonly string[] {
  const lines = harmless(text).trimEnd().split('\n');
  const more = lines.length - MOST_QUOTED;
  return [
    ...lines.slice(0, MOST_QUOTED).map((line) => `${INDENT}${dye('dim', '|')} ${line}`.trimEnd()),
    ...(more > 0 ? [INDENT + dye('dim', `… ${counted(more, 'more line')}`)] : []),
  ];
}

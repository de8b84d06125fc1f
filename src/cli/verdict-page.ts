import { wrapped } from '../observers/fit.ts';
import { harmless, oneLine } from '../observers/harmless.ts';
import { counted } from '../observers/words.ts';
import type { Verdict } from '../rehearsal/all.ts';
import { diff, type Line } from '../rehearsal/diff.ts';
import type { Detail, Difference } from '../rehearsal/difference.ts';
import { hasPassed } from '../rehearsal/document.ts';
import { REASON } from '../rehearsal/looks.ts';
import type { Page } from './page.ts';

/** `12 ms`, `3.4 s`. */
export const howLong = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

/**
 * One line about a scenario, and others where its folder is kept and for what it warns of, but for what is in `told`
 * already. Of one that has failed, everything is told later.
 */
export function verdictLines(verdict: Verdict, told: Set<string>, page: Page): readonly string[] {
  const { dye } = page;
  const sign = hasPassed(verdict) ? dye('green', '✓') : dye('red', '✗');
  const { piece, tookMs, folder, warnings } = verdict;
  const line = `${sign} ${oneLine(piece.rehearsal.name)}  ${dye('dim', howLong(tookMs))}`;
  return [
    ...indented(line, '  ', page),
    ...(folder === null ? [] : [INDENT + dye('dim', folder)]),
    ...(hasPassed(verdict) ? newsLines(warnings, told, page) : []),
  ];
}

/** The warnings that have not been told before, as far as they are not too many, and how many others there are. */
function newsLines(warnings: readonly string[], told: Set<string>, page: Page): readonly string[] {
  const news = warnings.filter((warning) => !told.has(warning));
  const shownNow = news.slice(0, MOST_WARNINGS);
  for (const warning of shownNow) told.add(warning);
  const [old, more] = [warnings.length - news.length, news.length - shownNow.length];
  return [
    ...warningLines(shownNow, INDENT, page),
    ...(more === 0 ? [] : [INDENT + page.dye('dim', `… ${counted(more, 'more warning')}: --json shows all`)]),
    ...(old === 0 ? [] : [INDENT + page.dye('dim', `${counted(old, 'warning')} as above`)]),
  ];
}

/** All that is wrong with a scenario. */
export function detailLines({ piece, differences, warnings }: Verdict, page: Page): readonly string[] {
  const { file, rehearsal } = piece;
  const head = `${page.dye('red', '✗')} ${page.dye('bold', oneLine(rehearsal.name))}  ${file}:${rehearsal.at.line}`;
  return [
    ...wrapped(head, page.columns),
    ...differences.flatMap((difference) => differenceLines(difference, file, page)),
    ...warningLines(warnings, '  ', page),
  ];
}

const INDENT = '    ';

/** More would drown what the scenarios came to. */
const MOST_WARNINGS = 3;

const warningLines = (warnings: readonly string[], indent: string, page: Page): readonly string[] =>
  warnings.flatMap((warning) => indented(page.dye('dim', `warning: ${oneLine(warning)}`), indent, page));

/** A text in lines that all stand further in. */
export const indented = (text: string, indent: string, { columns }: Page): readonly string[] =>
  wrapped(text, columns - indent.length).map((line) => indent + line);

function differenceLines(difference: Difference, scenario: string, page: Page): readonly string[] {
  const { what, file = scenario, line, column, detail } = difference;
  const say = (sentence: string): readonly string[] => indented(`${file}:${line}:${column}: ${sentence}`, '  ', page);
  switch (detail.kind) {
    case 'trouble': {
      const [first = '', ...rest] = harmless(detail.message).split('\n');
      if (what === REASON) return [first, ...rest].flatMap((each) => indented(each, INDENT, page));
      return [...say(page.dye('red', first)), ...rest.map((each) => INDENT + each)];
    }
    case 'values':
      return say(`${what} should be ${shown(detail, 'expected')}, but is ${page.dye('red', shown(detail, 'actual'))}`);
    case 'parts':
      return [...say(`${what} ${WISHES[detail.wish]} ${quoted(detail.part)}`), ...quote(detail.actual, page)];
    default:
      return [...say(`${what} is not as expected (- expected, + actual)`), ...diffLines(linesOf(detail), page)];
  }
}

type Values = Extract<Detail, { kind: 'values' }>;

function shown({ unit, ...detail }: Values, which: 'expected' | 'actual'): string {
  if (unit === undefined) return String(detail[which]);
  const places = Math.max(2, ...[detail.expected, detail.actual].map(placesOf));
  return `${unit}${Number(detail[which]).toFixed(places)}`;
}

/** How many digits an amount of money has behind its point; it is counted in millionths. */
const placesOf = (amount: Values['actual']): number =>
  Number(amount).toFixed(6).replace(/0+$/, '').split('.')[1]?.length ?? 0;

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
  const isAlone = (at: number): boolean => isNear[at - 1] !== false && isNear[at + 1] !== false;
  const shown: string[] = [];
  let left = 0;
  for (const [at, line] of lines.entries()) {
    // A line takes no more room than the words that it is left out.
    const isShown = isNear[at] || isAlone(at);
    if (!isShown) left += 1;
    if (left > 0 && (isShown || at === lines.length - 1)) shown.push(INDENT + dye('dim', `… ${left} the same`));
    if (!isShown) continue;
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

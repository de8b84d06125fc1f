import { UNKNOWN } from '../mentions.ts';
import type { CaseArm, Command, List } from './command.ts';
import { nameOf } from './speech.ts';
import type { Values } from './values.ts';
import type { Word } from './word.ts';

/** A variable and the value that it is compared with. */
interface Comparison {
  readonly subject: string;
  readonly value: string;
}

/** The comparison that a test is, if it asks whether a variable has one certain value. */
export function equalityIn(words: readonly Word[]): Comparison | null {
  const args = argsOfTest(words);
  const [left, op, right, more] = args ?? [];
  if (left === undefined || right === undefined || more !== undefined) return null;
  if (!['=', '==', '-eq'].includes(op?.text ?? '')) return null;
  const subject = variableIn(left);
  return subject === null || !isPlain(right) ? null : { subject, value: right.text };
}

/** Whether a test only asks whether there is something. */
export const isExistence = (words: readonly Word[]): boolean =>
  /^-[a-z]$/.test(argsOfTest(words)?.filter(({ text }) => text !== '!')[0]?.text ?? '');

/** Whether the arms of a command are for all values that the variable can have about which they ask. */
export function isExhaustive(command: Command, values: Values): boolean {
  if (command.kind === 'case') {
    const known = values.everyValueOf(command.word === null ? null : variableIn(command.word));
    const patterns = command.arms.flatMap((arm) => arm.patterns);
    return known?.every((value) => patterns.some((pattern) => matches(pattern, value))) ?? false;
  }
  const asked = command.kind === 'if' ? command.arms.map(({ test }) => equalityOf(test)) : [];
  const [first] = asked;
  if (first == null || asked.some((each) => each?.subject !== first.subject)) return false;
  return values.everyValueOf(first.subject)?.every((value) => asked.some((each) => each?.value === value)) ?? false;
}

/** The arm that a `case` about one of these arguments comes to; undefined if that cannot be told. */
export function armFor(command: Extract<Command, { kind: 'case' }>, args: readonly Word[]): CaseArm | undefined {
  const given = command.word === null ? undefined : args[Number(variableIn(command.word)) - 1];
  const patterns = command.arms.flatMap((arm) => arm.patterns);
  if (given === undefined || !isPlain(given) || patterns.some(({ text }) => /[[\]\uE000]/.test(text))) return undefined;
  const arm = command.arms.find((each) => each.patterns.some((pattern) => matches(pattern, given.text)));
  return arm?.end === ';;' ? arm : undefined;
}

function equalityOf(test: List): Comparison | null {
  const [only, second] = test;
  const [part] = only?.first.parts ?? [];
  const alone = second === undefined && only?.rest.length === 0 && !only.first.negated && only.first.parts.length === 1;
  return alone && part?.command.kind === 'simple' ? equalityIn(part.command.words) : null;
}

/** The name of the variable of which a word has the value; null if there is more to it. */
function variableIn({ text, holes }: Word): string | null {
  return text === UNKNOWN ? (holes[0]?.variable ?? null) : null;
}

function argsOfTest(words: readonly Word[]): readonly Word[] | null {
  const { name, args } = nameOf(words);
  if (name === 'test') return args;
  return name === '[' || name === '[[' ? args.slice(0, -1) : null;
}

const isPlain = ({ text }: Word): boolean => !/[*?[\]\uE000]/.test(text);

/** As a `case` does it, but for brackets, which nobody knows. */
function matches({ text }: Word, value: string): boolean {
  if (/[[\]\uE000]/.test(text)) return false;
  const source = text
    .replace(/[.+^${}()|\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 's').test(value);
}

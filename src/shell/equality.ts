import { UNKNOWN } from '../core/tag-mentions.ts';
import { splitCommandWords } from './command-output.ts';
import type { CaseArm, CommandList, ShellCommand } from './syntax-tree.ts';
import type { VariableValues } from './variable-values.ts';
import type { Word } from './word.ts';

/** A variable and the value that it is compared with. */
interface Comparison {
  readonly subject: string;
  readonly value: string;
}

/** The comparison that a test is, if it asks whether a variable has one certain value. */
export function parseEquality(words: readonly Word[]): Comparison | null {
  const args = testArguments(words);
  const [left, op, right, more] = args ?? [];
  if (left === undefined || right === undefined || more !== undefined) return null;
  if (!['=', '==', '-eq'].includes(op?.text ?? '')) return null;
  const subject = readVariableName(left);
  return subject === null || !isPlain(right) ? null : { subject, value: right.text };
}

/** Whether a test only asks whether there is something. */
export const isExistenceTest = (words: readonly Word[]): boolean =>
  /^-[a-z]$/.test(testArguments(words)?.filter(({ text }) => text !== '!')[0]?.text ?? '');

/** Whether the arms of a command are for all values that the variable can have about which they ask. */
export function isExhaustive(command: ShellCommand, values: VariableValues): boolean {
  if (command.kind === 'case') {
    const known = values.allValuesOf(command.word === null ? null : readVariableName(command.word));
    const patterns = command.arms.flatMap((arm) => arm.patterns);
    return known?.every((value) => patterns.some((pattern) => matchesPattern(pattern, value))) ?? false;
  }
  const equalities = command.kind === 'if' ? command.arms.map(({ test }) => parseSingleTest(test)) : [];
  const [first] = equalities;
  if (first == null || equalities.some((each) => each?.subject !== first.subject)) return false;
  return values.allValuesOf(first.subject)?.every((value) => equalities.some((each) => each?.value === value)) ?? false;
}

/** The arm that a `case` about one of these arguments comes to; undefined if that cannot be told. */
export function findMatchingArm(
  command: Extract<ShellCommand, { kind: 'case' }>,
  args: readonly Word[],
): CaseArm | undefined {
  const argument = command.word === null ? undefined : args[Number(readVariableName(command.word)) - 1];
  const patterns = command.arms.flatMap((arm) => arm.patterns);
  if (argument === undefined || !isPlain(argument) || patterns.some(({ text }) => /[[\]\uE000]/.test(text)))
    return undefined;
  const arm = command.arms.find((each) => each.patterns.some((pattern) => matchesPattern(pattern, argument.text)));
  return arm?.end === ';;' ? arm : undefined;
}

function parseSingleTest(test: CommandList): Comparison | null {
  const [only, second] = test;
  const [node] = only?.first.commands ?? [];
  const isSingle =
    second === undefined && only?.rest.length === 0 && !only.first.negated && only.first.commands.length === 1;
  return isSingle && node?.command.kind === 'simple' ? parseEquality(node.command.words) : null;
}

/** The name of the variable of which a word has the value; null if there is more to it. */
function readVariableName({ text, placeholders }: Word): string | null {
  return text === UNKNOWN ? (placeholders[0]?.variable ?? null) : null;
}

function testArguments(words: readonly Word[]): readonly Word[] | null {
  const { name, args } = splitCommandWords(words);
  if (name === 'test') return args;
  return name === '[' || name === '[[' ? args.slice(0, -1) : null;
}

const isPlain = ({ text }: Word): boolean => !/[*?[\]\uE000]/.test(text);

/** As a `case` does it, but for brackets, which nobody knows. */
function matchesPattern({ text }: Word, value: string): boolean {
  if (/[[\]\uE000]/.test(text)) return false;
  const source = text
    .replace(/[.+^${}()|\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 's').test(value);
}

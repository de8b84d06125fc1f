import type { Case, CaseItem, If } from 'unbash';
import { UNKNOWN } from '../core/tag-mentions.ts';
import { type CommandList, isNegated, pipelinesOf } from './parse.ts';
import { isSimple, readSimpleCommand, type SimpleCommand } from './simple-command.ts';
import type { VariableValues } from './variable-values.ts';
import { readWord, type WordText } from './word.ts';

/** A variable and the value that it is compared with. */
interface Comparison {
  readonly subject: string;
  readonly value: string;
}

/** Reads a test that asks whether a variable has one certain value; null if it asks anything else. */
export function parseEquality(command: SimpleCommand): Comparison | null {
  const [left, operator, right, more] = testArguments(command) ?? [];
  if (left === undefined || right === undefined || more !== undefined) return null;
  if (!['=', '==', '-eq'].includes(operator?.text ?? '')) return null;
  const subject = readVariableName(left);
  return subject === null || !isPlain(right) ? null : { subject, value: right.text };
}

/** Whether a test only asks if something exists, as `[ -f x ]` and `[ -n "$x" ]` do. */
export const isExistenceTest = (command: SimpleCommand): boolean =>
  /^-[a-z]$/.test(testArguments(command)?.filter(({ text }) => text !== '!')[0]?.text ?? '');

/** Whether the arms of a command cover all values that the tested variable can have. */
export function isExhaustive(command: If | Case, values: VariableValues): boolean {
  if (command.type === 'Case') {
    const known = values.allValuesOf(readVariableName(readWord(command.word)));
    const patterns = command.items.flatMap(patternsOf);
    return known?.every((value) => patterns.some((pattern) => matchesPattern(pattern, value))) ?? false;
  }
  const equalities = [command, ...command.elif].map(({ clause }) => parseSingleTest(clause.commands));
  const [first] = equalities;
  if (first == null || equalities.some((each) => each?.subject !== first.subject)) return false;
  return values.allValuesOf(first.subject)?.every((value) => equalities.some((each) => each?.value === value)) ?? false;
}

/** Finds the arm that a `case` about one of these arguments comes to; undefined if that is unknown. */
export function findMatchingArm(command: Case, args: readonly WordText[]): CaseItem | undefined {
  const argument = args[Number(readVariableName(readWord(command.word))) - 1];
  const patterns = command.items.flatMap(patternsOf);
  if (argument === undefined || !isPlain(argument) || patterns.some(({ text }) => /[[\]\uE000]/.test(text)))
    return undefined;
  const arm = command.items.find((each) => patternsOf(each).some((pattern) => matchesPattern(pattern, argument.text)));
  return (arm?.terminator ?? ';;') === ';;' ? arm : undefined;
}

const patternsOf = ({ pattern }: CaseItem): readonly WordText[] => pattern.map(readWord);

function parseSingleTest(test: CommandList): Comparison | null {
  const [statement, another] = test;
  const [command, ...more] = statement === undefined ? [] : pipelinesOf(statement).commands;
  const isSingle = another === undefined && more.length === 0 && command !== undefined && !isNegated(command);
  if (!isSingle || command.type === 'Pipeline' || command.type === 'Redirected') return null;
  return isSimple(command) ? parseEquality(readSimpleCommand(command)) : null;
}

/** The variable whose value a word is; null if there is more to the word. */
function readVariableName({ text, placeholders }: WordText): string | null {
  return text === UNKNOWN ? (placeholders[0]?.variable ?? null) : null;
}

function testArguments({ name, args }: SimpleCommand): readonly WordText[] | null {
  if (name === '[') return args.slice(0, -1);
  return name === 'test' || name === '[[' ? args : null;
}

const isPlain = ({ text }: WordText): boolean => !/[*?[\]\uE000]/.test(text);

/** Matches as `case` does; a pattern with brackets or unknown parts matches nothing. */
function matchesPattern({ text }: WordText, value: string): boolean {
  if (/[[\]\uE000]/.test(text)) return false;
  const source = text
    .replace(/[.+^${}()|\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 's').test(value);
}

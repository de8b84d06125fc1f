import type { ArithmeticFor, For, Select, While } from 'unbash';
import { hasUnknownPart, type TagMention } from '../core/tag-mentions.ts';
import { readCommandOutput } from './command-output.ts';
import type { Condition } from './condition-logic.ts';
import { type CommandList, commandsOf, innerCommand, pipelinesOf } from './parse.ts';
import type { PathOutputs, SingleTag } from './path-outputs.ts';
import { isSimple, readSimpleCommand } from './simple-command.ts';
import { listSimpleCommands, type PlacedCommand } from './walk.ts';
import { readWord, type WordText } from './word.ts';

/** A loop of any kind. */
export type LoopCommand = For | ArithmeticFor | Select | While;

/** The header of a loop: what it iterates over. */
export interface LoopHeader {
  readonly keyword: 'for' | 'while' | 'until';
  /** The variable that gets one item after the other. */
  readonly variable: string | null;
  /** The items; null if it goes through the arguments of the script, or counts, or tests. */
  readonly items: readonly WordText[] | null;
  readonly test: CommandList;
}

/** Reads the header of a loop; a `select` is a `for` whose items a person chooses. */
export function readLoopHeader(loop: LoopCommand): LoopHeader {
  if (loop.type === 'While') return { keyword: loop.kind, variable: null, items: null, test: loop.clause.commands };
  if (loop.type === 'ArithmeticFor') return { keyword: 'for', variable: null, items: null, test: [] };
  return { keyword: 'for', variable: loop.name.text, items: loop.wordlist?.map(readWord) ?? null, test: [] };
}

/** Whether a loop iterates at least once, because one of its items is literal. */
export const alwaysIterates = (loop: LoopCommand): boolean => readLoopHeader(loop).items?.some(isPlain) ?? false;

/** Whether an item is the same in every run of the script. */
const isPlain = ({ text }: WordText): boolean => !hasUnknownPart(text) && !/[*?[{]/.test(text);

/** Whether a loop iterates over the lines of a file, the output of a command or matching files, which may be none. */
export function mayIterateOverNothing(loop: LoopCommand, nullglob: boolean): boolean {
  const { keyword, items, test } = readLoopHeader(loop);
  if (keyword === 'while') return listSimpleCommands(test).some(({ command }) => command.name === 'read');
  return items?.every((item) => isSubstitution(item) || (nullglob && /[*?[]/.test(item.text))) ?? false;
}

/** Whether `nullglob` is set, so that a pattern which matches no file becomes nothing. */
export const setsNullglob = (commands: readonly PlacedCommand[]): boolean =>
  commands.some(({ command: { name, args } }) => name === 'shopt' && args.some(({ text }) => text === 'nullglob'));

/** Whether a word is the output of a command and nothing else. */
const isSubstitution = ({ text, substitutions }: WordText): boolean => substitutions.length > 0 && text.length === 1;

/** Finds the offset of a tag that every iteration prints with another value, although an answer may have only one. */
export function findTagRepeatedPerIteration(loop: LoopCommand): number | undefined {
  const body = loop.body.commands;
  if (leavesEarly(body) || iteratesOnce(loop)) return undefined;
  return body.flatMap(readCertainTags).find(hasUnknownContent)?.offset;
}

/** Finds the offset of a tag that depends on the item: two iterations may print two different tags. */
export function findTagVaryingPerIteration(
  loop: LoopCommand,
  condition: Condition,
  iterations: PathOutputs,
): number | undefined {
  if (leavesEarly(loop.body.commands) || iteratesOnce(loop)) return undefined;
  const { variable, test } = readLoopHeader(loop);
  const variables = [...(variable === null ? [] : [variable]), ...findReadVariables(test)];
  const variesByIteration = ({ conditions }: SingleTag): boolean =>
    conditions.some((each) => each !== condition && variables.some((name) => each.subjects.has(name)));
  const outputs = [...iterations.values()];
  const varying = outputs.filter((each) => each.kind === 'single').filter(variesByIteration);
  return varying.length === outputs.length ? varying[1]?.at : undefined;
}

function iteratesOnce(loop: LoopCommand): boolean {
  const { items } = readLoopHeader(loop);
  return items?.length === 1 && items.every(isPlain);
}

const leavesEarly = (body: CommandList): boolean =>
  listSimpleCommands(body).some(({ command }) => LEAVING_COMMANDS.has(command.name));

const findReadVariables = (test: CommandList): readonly string[] =>
  listSimpleCommands(test).flatMap(({ command: { name, args } }) =>
    name === 'read' ? args.map(({ text }) => text) : [],
  );

const hasUnknownContent = ({ name, tag }: TagMention): boolean =>
  name !== 'fork' && [tag.body, ...Object.values(tag.attributes)].some(hasUnknownPart);

const LEAVING_COMMANDS = new Set(['exit', 'return', 'break', 'continue']);

/** The tags that a statement prints whenever it is run. */
function readCertainTags(statement: CommandList[number]): readonly TagMention[] {
  const [node, another] = pipelinesOf(statement).commands.slice(0, 1).flatMap(commandsOf);
  const command = node === undefined ? undefined : innerCommand(node);
  if (node === undefined || another !== undefined || command === undefined || !isSimple(command)) return [];
  const { tags, sure } = readCommandOutput(readSimpleCommand(command));
  return sure ? tags : [];
}

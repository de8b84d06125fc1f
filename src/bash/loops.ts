import type { ArithmeticFor, For, Select, While } from 'unbash';
import { hasUnknownPart, type TagMention } from '../language/tags/tag-mentions.ts';
import { startsWorkers } from '../language/transitions/index.ts';
import { readCommandOutput } from './command-output.ts';
import { type CommandList, innerCommand, pipelineCommands, pipelinesOf } from './parse.ts';
import { isSimple, readSimpleCommand } from './simple-command.ts';
import { listSimpleCommands } from './walk.ts';
import { readWord, type WordText } from './word.ts';

/** A loop of any kind. */
export type LoopCommand = For | ArithmeticFor | Select | While;

/** The header of a loop: what it iterates over. */
export interface LoopHeader {
  readonly keyword: 'for' | 'while' | 'until';
  /** The items; null if it goes through the arguments of the script, or counts, or tests. */
  readonly items: readonly WordText[] | null;
  readonly test: CommandList;
}

/** Reads the header of a loop; a `select` is a `for` whose items a person chooses. */
export function readLoopHeader(loop: LoopCommand): LoopHeader {
  if (loop.type === 'While') return { keyword: loop.kind, items: null, test: loop.clause.commands };
  if (loop.type === 'ArithmeticFor') return { keyword: 'for', items: null, test: [] };
  return { keyword: 'for', items: loop.wordlist?.map(readWord) ?? null, test: [] };
}

/** True if a loop iterates at least once, because one of its items is literal. */
export const alwaysIterates = (loop: LoopCommand): boolean => readLoopHeader(loop).items?.some(isPlain) ?? false;

/** True if an item is the same in every run of the script. */
const isPlain = ({ text }: WordText): boolean => !hasUnknownPart(text) && !/[*?[{]/.test(text);

/** True if a loop iterates over the lines of a file or the output of a command, which may be none. */
export function mayIterateOverNothing(loop: LoopCommand): boolean {
  const { keyword, items, test } = readLoopHeader(loop);
  if (keyword === 'while') return listSimpleCommands(test).some(({ command }) => command.name === 'read');
  return items?.every(isSubstitution) ?? false;
}

/** True if a word is the output of a command and nothing else. */
const isSubstitution = ({ text, substitutions }: WordText): boolean => substitutions.length > 0 && text.length === 1;

/** Finds the offset of a tag that every iteration prints with another value, although an answer may have only one. */
export function findTagRepeatedPerIteration(loop: LoopCommand): number | undefined {
  const body = loop.body.commands;
  if (leavesEarly(body) || iteratesOnce(loop)) return undefined;
  return body.flatMap(readCertainTags).find(hasUnknownContent)?.offset;
}

function iteratesOnce(loop: LoopCommand): boolean {
  const { items } = readLoopHeader(loop);
  return items?.length === 1 && items.every(isPlain);
}

const leavesEarly = (body: CommandList): boolean =>
  listSimpleCommands(body).some(({ command }) => LEAVING_COMMANDS.has(command.name));

const hasUnknownContent = ({ name, tag }: TagMention): boolean =>
  !startsWorkers(name) && [tag.body, ...Object.values(tag.attributes)].some(hasUnknownPart);

const LEAVING_COMMANDS = new Set(['exit', 'return', 'break', 'continue']);

/** The tags that a statement prints whenever it is run. */
function readCertainTags(statement: CommandList[number]): readonly TagMention[] {
  const [node, another] = pipelinesOf(statement).commands.slice(0, 1).flatMap(pipelineCommands);
  const command = node === undefined ? undefined : innerCommand(node);
  if (node === undefined || another !== undefined || command === undefined || !isSimple(command)) return [];
  const { tags, sure } = readCommandOutput(readSimpleCommand(command));
  return sure ? tags : [];
}

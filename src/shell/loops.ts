import { hasUnknownPart, type TagMention } from '../core/tag-mentions.ts';
import { readCommandOutput, splitCommandWords } from './command-output.ts';
import type { Condition, PathOutputs, SingleTag } from './path-outputs.ts';
import type { CommandList, CommandNode, ShellCommand } from './syntax-tree.ts';
import { listSimpleCommands } from './walk.ts';
import type { Word } from './word.ts';

export type LoopCommand = Extract<ShellCommand, { kind: 'loop' }>;

/** Whether a loop goes round at least once: over items that are written down. */
export const alwaysIterates = ({ forClause }: LoopCommand): boolean => forClause?.items?.some(isPlain) ?? false;

/** An item that is no other when the script is run. */
const isPlain = ({ text }: Word): boolean => !hasUnknownPart(text) && !/[*?[{]/.test(text);

/** Whether a loop goes through what a file, a command or a folder has to offer, which may be nothing. */
export function mayIterateOverNothing({ keyword, forClause, test }: LoopCommand, nullglob: boolean): boolean {
  if (keyword === 'while')
    return listSimpleCommands(test).some(({ words }) => splitCommandWords(words).name === 'read');
  return forClause?.items?.every((item) => isSubstitution(item) || (nullglob && /[*?[]/.test(item.text))) ?? false;
}

/** Whether a pattern that fits nothing becomes nothing; without this it stays as it is. */
export const setsNullglob = (script: CommandList): boolean =>
  listSimpleCommands(script).some(
    ({ words }) => splitCommandWords(words).name === 'shopt' && words.some(({ text }) => text === 'nullglob'),
  );

/** An answer of a command by itself. */
const isSubstitution = ({ text, substitutionRanges }: Word): boolean =>
  substitutionRanges.length > 0 && text.length === 1;

/** The offset of a tag that every round of a loop prints with another value, though there can be only one. */
export function findTagRepeatedPerIteration(loop: LoopCommand): number | undefined {
  const { body } = loop;
  if (leavesEarly(body) || iteratesOnce(loop)) return undefined;
  const commands = body.flatMap(({ first }) => (first.commands.length === 1 ? first.commands : []));
  return commands.flatMap(readCertainTags).find(hasUnknownContent)?.offset;
}

/** The offset of one of several tags of which each round prints another, by what it goes through: in two rounds, two tags. */
export function findTagVaryingPerIteration(
  loop: LoopCommand,
  condition: Condition,
  iterations: PathOutputs,
): number | undefined {
  if (leavesEarly(loop.body) || iteratesOnce(loop)) return undefined;
  const variables = [...(loop.forClause === null ? [] : [loop.forClause.variable]), ...findReadVariables(loop.test)];
  const variesByIteration = ({ about }: SingleTag): boolean =>
    about.some((each) => each !== condition && variables.some((name) => each.subjects.has(name)));
  const outputs = [...iterations.values()];
  const varying = outputs.filter((each) => each.kind === 'one').filter(variesByIteration);
  return varying.length === outputs.length ? varying[1]?.at : undefined;
}

const iteratesOnce = ({ forClause }: LoopCommand): boolean =>
  forClause?.items?.length === 1 && forClause.items.every(isPlain);

const leavesEarly = (body: CommandList): boolean =>
  listSimpleCommands(body).some(({ words }) => LEAVING_COMMANDS.has(splitCommandWords(words).name));

const findReadVariables = (test: CommandList): readonly string[] =>
  listSimpleCommands(test).flatMap(({ words }) => {
    const { name, args } = splitCommandWords(words);
    return name === 'read' ? args.map(({ text }) => text) : [];
  });

const hasUnknownContent = ({ name, tag }: TagMention): boolean =>
  name !== 'fork' && [tag.body, ...Object.values(tag.attributes)].some(hasUnknownPart);

const LEAVING_COMMANDS = new Set(['exit', 'return', 'break', 'continue']);

function readCertainTags({ command, redirects }: CommandNode): readonly TagMention[] {
  if (command.kind !== 'simple') return [];
  const { tags, sure } = readCommandOutput(command.words, redirects);
  return sure ? tags : [];
}

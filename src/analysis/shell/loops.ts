import { isOpen, type Mention } from '../mentions.ts';
import type { Command, List, Part } from './command.ts';
import type { Condition, One, Sayings } from './sayings.ts';
import { nameOf, speechOf } from './speech.ts';
import { linesOf } from './walk.ts';
import type { Word } from './word.ts';

export type Loop = Extract<Command, { kind: 'loop' }>;

/** Whether a loop goes round at least once: over items that are written down. */
export const surelyGoesRound = ({ over }: Loop): boolean => over?.items?.some(isPlain) ?? false;

/** An item that is no other when the script is run. */
const isPlain = ({ text }: Word): boolean => !isOpen(text) && !/[*?[{]/.test(text);

/** Whether a loop goes through what a file, a command or a folder has to offer, which may be nothing. */
export function isEmptyAtTimes({ word, over, test }: Loop, nullglob: boolean): boolean {
  if (word === 'while') return linesOf(test).some(({ words }) => nameOf(words).name === 'read');
  return over?.items?.every((item) => isAsked(item) || (nullglob && /[*?[]/.test(item.text))) ?? false;
}

/** Whether a pattern that fits nothing becomes nothing; without this it stays as it is. */
export const setsNullglob = (script: List): boolean =>
  linesOf(script).some(({ words }) => nameOf(words).name === 'shopt' && words.some(({ text }) => text === 'nullglob'));

/** An answer of a command by itself. */
const isAsked = ({ text, inner }: Word): boolean => inner.length > 0 && text.length === 1;

/** The offset of a tag that every round of a loop prints with another value, though there can be only one. */
export function tagOfEachRound(loop: Loop): number | undefined {
  const { body } = loop;
  if (leaves(body) || isOneRound(loop)) return undefined;
  const parts = body.flatMap(({ first }) => (first.parts.length === 1 ? first.parts : []));
  return parts.flatMap(tagsOf).find(isAnother)?.offset;
}

/** The offset of one of several tags of which each round prints another, by what it goes through: in two rounds, two tags. */
export function tagsOfRounds(loop: Loop, condition: Condition, rounds: Sayings): number | undefined {
  if (leaves(loop.body) || isOneRound(loop)) return undefined;
  const variables = [...(loop.over === null ? [] : [loop.over.variable]), ...namesRead(loop.test)];
  const isByRound = ({ about }: One): boolean =>
    about.some((each) => each !== condition && variables.some((name) => each.about.has(name)));
  const said = [...rounds.values()];
  const ones = said.filter((each) => each.kind === 'one').filter(isByRound);
  return ones.length === said.length ? ones[1]?.at : undefined;
}

const isOneRound = ({ over }: Loop): boolean => over?.items?.length === 1 && over.items.every(isPlain);

const leaves = (body: List): boolean => linesOf(body).some(({ words }) => LEAVING.has(nameOf(words).name));

const namesRead = (test: List): readonly string[] =>
  linesOf(test).flatMap(({ words }) => {
    const { name, args } = nameOf(words);
    return name === 'read' ? args.map(({ text }) => text) : [];
  });

const isAnother = ({ name, tag }: Mention): boolean =>
  name !== 'fork' && [tag.body, ...Object.values(tag.attributes)].some(isOpen);

const LEAVING = new Set(['exit', 'return', 'break', 'continue']);

function tagsOf({ command, redirects }: Part): readonly Mention[] {
  if (command.kind !== 'simple') return [];
  const { tags, sure } = speechOf(command.words, redirects);
  return sure ? tags : [];
}

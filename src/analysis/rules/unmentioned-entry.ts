import { implicitTag, type PolicyEntry, statesNamed } from '../../core/policy.ts';
import { literalTag } from '../../core/reminder.ts';
import { type TagName, TRANSITIONS } from '../../core/transitions/index.ts';
import { counterpartsIn } from '../counterparts.ts';
import type { Graph } from '../graph.ts';
import { withoutTags } from '../mentions.ts';
import { namingIn } from '../naming.ts';
import type { Page } from '../page.ts';
import type { Resolver } from '../resolver.ts';
import { rulePerPage } from '../rule.ts';
import { WHOLE } from '../sheet.ts';

/** A policy permits what the prompt never speaks of, so that its agent learns of it only by a reminder. */
export const unmentionedEntry = rulePerPage('unmentioned-entry', 'warning', (page, view) => {
  const { names, graph } = view;
  const { rules, text, appendSystemPrompt } = page.source.state;
  if (page.broken || text.trim() === '' || implicitTag(rules.policy) !== undefined) return [];
  if (AS_BEFORE.test(text) && isContinued(page.file, graph)) return [];
  const isMentioned = mentionsIn(`${text}\n${appendSystemPrompt ?? ''}`);
  const unmentioned = rules.policy.filter((entry) => {
    const files = filesNamed(entry, names);
    return files !== undefined && !isAskedFor(entry, files, page, names) && !isMentioned(entry.tag, files);
  });
  const wrongly = counterpartsIn(page, view, unmentioned);
  return rules.policy.flatMap((entry, index) => {
    if (!unmentioned.includes(entry) || wrongly.has(entry)) return [];
    const message = `the prompt never mentions \`${literalTag(entry)}\`, which its \`allowed_transitions\` permit`;
    const [lacking] = rules.policy.length === 1 ? lackingIn(entry) : [];
    const hint =
      lacking === undefined
        ? 'Say in the prompt when to answer with it, or take it out of the `allowed_transitions`.'
        : `Add \`${lacking}\` to the entry, so that the transition need not be said, or say in the prompt when to answer with it.`;
    return [{ file: page.file, at: page.source.entries[index]?.at ?? WHOLE, message, hint }];
  });
});

/** What an entry would need to be a whole tag. */
const lackingIn = ({ tag, target, attributes }: PolicyEntry): readonly string[] => {
  const { body, required } = TRANSITIONS[tag];
  const names = required.filter((key) => attributes[key] === undefined);
  return body === 'state' && target === null ? ['target', ...names] : names;
};

/** "Answer with one of the two tags as before." */
const AS_BEFORE =
  /\b(?:tags?|answer|reply|respond)\b[^.\n]{0,60}\b(?:as (?:before|above|last time)|again)\b|\bthe same (?:\w+ ){0,2}tags?\b/i;

const WITH_CONVERSATION: readonly TagName[] = ['goto', 'call'];

/** Whether every way to a state leads on in a conversation, so that its prompt may build upon what was said before. */
function isContinued(file: string, { edges, entry }: Graph): boolean {
  const into = edges.filter(({ to }) => to?.kind === 'state' && to.file === file);
  return file !== entry && into.every(({ tag }) => WITH_CONVERSATION.includes(tag));
}

/** The states that an entry names; undefined if there is one that does not exist. */
function filesNamed(entry: PolicyEntry, names: Resolver): readonly string[] | undefined {
  const found = statesNamed(entry).map(([, name]) => names.resolve(name));
  const files = found.flatMap((each) => (each.kind === 'found' ? each.file : []));
  return files.length === found.length ? files : undefined;
}

/** Whether its very tag stands in the prompt, as in most. */
function isAskedFor({ tag }: PolicyEntry, files: readonly string[], { tags }: Page, names: Resolver): boolean {
  const [file, another] = files;
  return (
    another === undefined &&
    tags.some((each) => {
      if (each.name !== tag || file === undefined) return each.name === tag;
      const found = names.resolve(each.tag.body.trim());
      return found.kind === 'found' && found.file === file;
    })
  );
}

/** An entry is mentioned if its states are named, and not only by another tag; where it names none, if its tag is. */
function mentionsIn(words: string): (tag: TagName, files: readonly string[]) => boolean {
  const namings = new Map<TagName, (file: string) => boolean>();
  return (tag, files) => {
    if (files.length === 0) return speaksOf(tag).test(words);
    const naming = namings.get(tag) ?? namingIn(wordsFor(tag, words));
    namings.set(tag, naming);
    return files.every(naming);
  };
}

/** "`result`", "in result tags", "an element named result". */
const speaksOf = (tag: TagName): RegExp =>
  new RegExp(
    `<${tag}|\`${tag}\`|\\b${tag} (?:tags?|elements?)\\b|\\b(?:tags?|elements?) (?:(?:named|called) )?["'“]?${tag}\\b`,
    'i',
  );

/** Where the prompt speaks of the tag by name, a state may stand in any tag. */
const wordsFor = (tag: TagName, words: string): string =>
  new RegExp(`\\b${tag}\\b`, 'i').test(withoutTags(words)) ? words : withoutTags(words, tag);

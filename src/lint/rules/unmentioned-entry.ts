import { implicitTag, namedStates, type PolicyEntry } from '../../core/policy.ts';
import { formatPolicyTag } from '../../core/reminder.ts';
import { stripTags } from '../../core/tag-mentions.ts';
import { WHOLE_FILE } from '../../core/text-position.ts';
import { type TagName, TRANSITIONS } from '../../core/transitions/index.ts';
import type { Graph } from '../../graph/graph.ts';
import type { StateAnalysis } from '../../graph/state-analysis.ts';
import type { StateResolver } from '../../graph/state-resolver.ts';
import { findMisrequestedEntries } from '../misrequested-entries.ts';
import { rulePerState } from '../rule.ts';
import { detectStateMentions } from '../state-mentions.ts';

/** A policy permits what the prompt never speaks of, so that its agent learns of it only by a reminder. */
export const unmentionedEntry = rulePerState('unmentioned-entry', 'warning', (analysis, context) => {
  const { names, graph } = context;
  const { rules, text, appendSystemPrompt } = analysis.source.state;
  if (analysis.broken || text.trim() === '' || implicitTag(rules.policy) !== undefined) return [];
  if (AS_BEFORE.test(text) && isContinued(analysis.file, graph)) return [];
  const isMentioned = createMentionCheck(`${text}\n${appendSystemPrompt ?? ''}`);
  const unmentioned = rules.policy.filter((entry) => {
    const files = resolveEntryStates(entry, names);
    return files !== undefined && !isTagInPrompt(entry, files, analysis, names) && !isMentioned(entry.tag, files);
  });
  const withCounterpart = findMisrequestedEntries(analysis, context, unmentioned);
  return rules.policy.flatMap((entry, index) => {
    if (!unmentioned.includes(entry) || withCounterpart.has(entry)) return [];
    const message = `the prompt never mentions \`${formatPolicyTag(entry)}\`, which its \`allowed_transitions\` permit`;
    const [missingKey] = rules.policy.length === 1 ? findMissingKeys(entry) : [];
    const hint =
      missingKey === undefined
        ? 'Say in the prompt when to answer with it, or take it out of the `allowed_transitions`.'
        : `Add \`${missingKey}\` to the entry, so that the transition need not be said, or say in the prompt when to answer with it.`;
    return [{ file: analysis.file, at: analysis.source.entries[index]?.at ?? WHOLE_FILE, message, hint }];
  });
});

/** What an entry would need to be a whole tag. */
const findMissingKeys = ({ tag, target, attributes }: PolicyEntry): readonly string[] => {
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
function resolveEntryStates(entry: PolicyEntry, names: StateResolver): readonly string[] | undefined {
  const found = namedStates(entry).map(([, name]) => names.resolve(name));
  const files = found.flatMap((each) => (each.kind === 'found' ? each.file : []));
  return files.length === found.length ? files : undefined;
}

/** Whether its very tag stands in the prompt, as in most. */
function isTagInPrompt(
  { tag }: PolicyEntry,
  files: readonly string[],
  { tags }: StateAnalysis,
  names: StateResolver,
): boolean {
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
function createMentionCheck(text: string): (tag: TagName, files: readonly string[]) => boolean {
  const namings = new Map<TagName, (file: string) => boolean>();
  return (tag, files) => {
    if (files.length === 0) return tagNamePattern(tag).test(text);
    const isNamed = namings.get(tag) ?? detectStateMentions(searchableText(tag, text));
    namings.set(tag, isNamed);
    return files.every(isNamed);
  };
}

/** "`result`", "in result tags", "an element named result". */
const tagNamePattern = (tag: TagName): RegExp =>
  new RegExp(
    `<${tag}|\`${tag}\`|\\b${tag} (?:tags?|elements?)\\b|\\b(?:tags?|elements?) (?:(?:named|called) )?["'“]?${tag}\\b`,
    'i',
  );

/** Where the prompt speaks of the tag by name, a state may stand in any tag. */
const searchableText = (tag: TagName, text: string): string =>
  new RegExp(`\\b${tag}\\b`, 'i').test(stripTags(text)) ? text : stripTags(text, tag);

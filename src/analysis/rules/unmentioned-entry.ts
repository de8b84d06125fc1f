import { implicitTag, type PolicyEntry, statesNamed } from '../../core/policy.ts';
import { literalTag } from '../../core/reminder.ts';
import type { TagName } from '../../core/transitions/index.ts';
import { withoutTags } from '../mentions.ts';
import { namingIn } from '../naming.ts';
import type { Resolver } from '../resolver.ts';
import { rulePerPage } from '../rule.ts';
import { WHOLE } from '../sheet.ts';

/** A policy permits what the prompt never speaks of, so that its agent learns of it only by a reminder. */
export const unmentionedEntry = rulePerPage('unmentioned-entry', 'warning', (page, { names }) => {
  const { rules, text, appendSystemPrompt } = page.source.state;
  if (page.broken || text.trim() === '' || implicitTag(rules.policy) !== undefined) return [];
  const isMentioned = mentionsIn(`${text}\n${appendSystemPrompt ?? ''}`);
  return rules.policy.flatMap((entry, index) => {
    const files = filesNamed(entry, names);
    if (files === undefined || isMentioned(entry.tag, files)) return [];
    const message = `the prompt never mentions \`${literalTag(entry)}\`, which its \`allowed_transitions\` permit`;
    const hint = 'Say in the prompt when to answer with it, or take it out of the `allowed_transitions`.';
    return [{ file: page.file, at: page.source.entries[index]?.at ?? WHOLE, message, hint }];
  });
});

/** The states that an entry names; undefined if there is one that does not exist. */
function filesNamed(entry: PolicyEntry, names: Resolver): readonly string[] | undefined {
  const found = statesNamed(entry).map(([, name]) => names.resolve(name));
  const files = found.flatMap((each) => (each.kind === 'found' ? each.file : []));
  return files.length === found.length ? files : undefined;
}

/** An entry is mentioned if its states are named, and not only by another tag; where it names none, if its tag is. */
function mentionsIn(words: string): (tag: TagName, files: readonly string[]) => boolean {
  const namings = new Map<TagName, (file: string) => boolean>();
  return (tag, files) => {
    if (files.length === 0) return new RegExp(`<${tag}|\`${tag}\`|\\b${tag} tag\\b`, 'i').test(words);
    const naming = namings.get(tag) ?? namingIn(wordsFor(tag, words));
    namings.set(tag, naming);
    return files.every(naming);
  };
}

/** Where the prompt speaks of the tag by name, a state may stand in any tag. */
const wordsFor = (tag: TagName, words: string): string =>
  new RegExp(`\\b${tag}\\b`, 'i').test(withoutTags(words)) ? words : withoutTags(words, tag);

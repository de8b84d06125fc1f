import { stem } from '../../core/names.ts';
import { implicitTag, type PolicyEntry, statesNamed } from '../../core/policy.ts';
import { literalTag } from '../../core/reminder.ts';
import { rulePerPage } from '../rule.ts';
import { WHOLE } from '../sheet.ts';

/** A policy permits what the prompt never speaks of, so that its agent learns of it only by a reminder. */
export const unmentionedEntry = rulePerPage('unmentioned-entry', 'warning', (page, { names }) => {
  const { rules, text, appendSystemPrompt } = page.source.state;
  if (page.broken || text.trim() === '' || implicitTag(rules.policy) !== undefined) return [];
  const words = `${text}\n${appendSystemPrompt ?? ''}`;
  return rules.policy.flatMap((entry, index) => {
    const known = statesNamed(entry).every(([, name]) => names.resolve(name).kind === 'found');
    if (!known || isMentioned(entry, words)) return [];
    const message = `the prompt never mentions \`${literalTag(entry)}\`, which its \`allowed_transitions\` permit`;
    const hint = 'Say in the prompt when to answer with it, or take it out of the policy.';
    return [{ file: page.file, at: page.source.entries[index]?.at ?? WHOLE, message, hint }];
  });
});

/** Its states are named, and its tag if they are named without extension. */
function isMentioned(entry: PolicyEntry, words: string): boolean {
  const tagged = words.toLowerCase().includes(`<${entry.tag}`);
  const states = statesNamed(entry).map(([, name]) => name);
  if (states.length === 0) return tagged;
  return states.every(
    (name) => hasWord(words, name.includes('.') ? name : `${name}.md`) || (tagged && hasWord(words, stem(name))),
  );
}

function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    const around = `${text[at - 1] ?? ' '}${text[at + word.length] ?? ' '}`;
    if (!/[\p{L}\p{N}_]/u.test(around)) return true;
  }
  return false;
}

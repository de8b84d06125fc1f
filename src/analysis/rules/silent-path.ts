import { isTold, rulePerPage } from '../rule.ts';

/** A script can come to its end without having printed a tag. */
export const silentPath = rulePerPage('silent-path', 'warning', (page, view) => {
  if (page.tags.length === 0 && page.halves.length === 0) return [];
  // What is printed there is told to be no tag.
  if (isTold(view, page.file, 'unknown-tag')) return [];
  return (page.ways?.said ?? []).flatMap((said) => {
    if (said.kind !== 'nothing') return [];
    const { text } = page.source.state;
    const at = said.since ?? Math.max(0, text.trimEnd().length - 1);
    const message = `the script can end without printing a tag, as when ${whenSilent(text.slice(at))}`;
    const hint = 'Print exactly one transition on every way through; there are no reminders for scripts.';
    return [{ file: page.file, at: page.place(at), message, hint }];
  });
});

/** What happens at the place where a tag could have been printed and was not. */
const whenSilent = (rest: string): string => CASES.find(([begin]) => begin.test(rest))?.[1] ?? 'it comes through here';

const CASES: readonly (readonly [RegExp, string])[] = [
  [/^(?:exit|return)\b/, 'it leaves here'],
  [/^if\b/, 'no condition of this `if` holds'],
  [/^case\b/, 'no pattern of this `case` fits'],
  [/^(?:for|while|until)\b/, 'this loop comes to its end'],
  [/^[^\n|&;]*&&/, 'this fails'],
  [/^[^\n|&;]*\|\|/, 'this succeeds'],
];

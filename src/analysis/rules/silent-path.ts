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
    const where = /^(?:exit|return)\b/.test(text.slice(at)) ? 'when it leaves here' : 'when no tag is printed here';
    const message = `the script can end without printing a tag, as ${where}`;
    const hint = 'Print exactly one transition on every way through; there are no reminders for scripts.';
    return [{ file: page.file, at: page.place(at), message, hint }];
  });
});

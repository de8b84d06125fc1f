import { nearest } from '../../core/nearest.ts';
import { OWN_ATTRIBUTES, type Tag } from '../../core/tag.ts';
import { TRANSITIONS } from '../../core/transitions/index.ts';
import { levelOf } from '../bad-names.ts';
import { waysOn } from '../edges.ts';
import { exchangedIn } from '../exchanged.ts';
import type { Page } from '../page.ts';
import { isTold, rulePerPage } from '../rule.ts';
import type { Place } from '../sheet.ts';
import { showTag } from '../words.ts';

/** A call does not say where it returns to, or a fork not where its parent goes on. */
export const missingAttribute = rulePerPage('missing-attribute', 'error', (page, view) => {
  // What was written in place of the continuation is told already.
  const isExcused = hasOther(page) || isTold(view, page.file, 'unknown-tag');
  const goesOn = (at: Place): boolean => isExcused || (waysOn(page.tags).length > 0 && !isAlone(at, page));
  return page.tags.flatMap(({ name, tag, at, sure }) => {
    const missing = TRANSITIONS[name].required.filter((key) => (tag.attributes[key] ?? '').trim() === '');
    return missing.flatMap((key) => {
      if (!sure || (key === 'next' && goesOn(at)) || exchangedIn({ name, tag }) !== undefined) return [];
      const slip = slipFor(key, tag);
      const instead = slip === undefined ? '' : `, and \`${slip}\` is no attribute of it`;
      const message = `${showTag(name, tag)}: \`${key}="STATE"\` is missing${instead}`;
      const hint = slip === undefined ? HINTS[key] : `Write \`${key}\` instead of \`${slip}\`.`;
      return [{ file: page.file, at, message, hint, level: levelOf(page) }];
    });
  });
});

const HINTS = {
  return: 'Add `return="STATE"` with the state that is to get the result.',
  next: 'Add `next="STATE"` with the state in which the parent goes on, or put one <goto> beside the forks.',
};

/** An attribute that is probably this one misspelt. */
export function slipFor(key: string, { attributes }: Tag): string | undefined {
  const own: readonly string[] = OWN_ATTRIBUTES;
  if ((attributes[key] ?? '').trim() !== '') return undefined;
  return Object.keys(attributes).find((each) => !own.includes(each) && nearest(each, [key]) !== undefined);
}

/** Whether there is a way through a script on which no other tag follows this fork. */
function isAlone(at: Place, { ways, place, tags }: Page): boolean {
  const isLeft = ways?.said.some((said) => {
    return said.kind === 'forks' && said.next === null && compare(place(said.at), at) === 0;
  });
  // What hangs on how many forks there were comes after them.
  return isLeft === true && !tags.some((other) => other.name === 'goto' && compare(other.at, at) > 0);
}

const compare = (a: Place, b: Place): number => a.line - b.line || a.column - b.column;

/** Whether a script prints a tag beside its forks that cannot stand there. */
const hasOther = ({ ways }: Page): boolean =>
  ways?.said.some((said) => said.kind === 'clash' && said.why === 'forks') ?? false;

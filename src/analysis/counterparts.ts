import type { PolicyEntry } from '../core/policy.ts';
import type { Page } from './page.ts';
import type { Resolver } from './resolver.ts';
import type { View } from './rule.ts';

/** An entry as it is meant: with the states that its misspelt names come near to, which is told there. */
export function asMeant({ tag, target, attributes }: PolicyEntry, names: Resolver): PolicyEntry {
  const mended = (name: string): string => (names.resolve(name).kind === 'found' ? name : (names.meant(name) ?? name));
  const { return: back, next } = attributes;
  return {
    tag,
    target: target === null ? null : mended(target),
    attributes: {
      ...attributes,
      ...(back !== undefined && { return: mended(back) }),
      ...(next !== undefined && { next: mended(next) }),
    },
  };
}

/** Of these entries those that the prompt asks for in wrong words, which is told at the tag. */
export function counterpartsIn(
  page: Page,
  { told, names }: View,
  entries: readonly PolicyEntry[],
): ReadonlySet<PolicyEntry> {
  const faults = told.get(page.file)?.filter(({ rule }) => WRONG_WORDS.includes(rule)) ?? [];
  if (faults.length === 0 || entries.length === 0) return new Set();
  const places = new Set(faults.map(({ at }) => `${at.line}:${at.column}`));
  const tags = page.forms.filter(({ at }) => places.has(`${at.line}:${at.column}`));
  return new Set(
    tags.flatMap(({ name, tag }) => {
      const meant = fileMeant(tag.body, names);
      const same = entries.filter(({ target }) => target !== null && fileMeant(target, names) === meant);
      const alike = entries.filter((entry) => entry.tag === name);
      // One of several that are as like as each other may not be meant.
      return same.length > 0 ? same : alike.length === 1 ? alike : [];
    }),
  );
}

const WRONG_WORDS = ['forbidden-tag', 'missing-state'];

function fileMeant(written: string, names: Resolver): string {
  const name = written.trim();
  const found = names.resolve(name);
  return found.kind === 'found' ? found.file : (names.meant(name) ?? name);
}

import type { PolicyEntry } from '../core/policy.ts';
import type { StateAnalysis } from '../graph/state-analysis.ts';
import type { StateResolver } from '../graph/state-resolver.ts';
import type { RuleContext } from './rule.ts';

/** An entry as it is meant: with the states that its misspelt names come near to, which is told there. */
export function correctStateNames({ tag, target, attributes }: PolicyEntry, names: StateResolver): PolicyEntry {
  const corrected = (name: string): string =>
    names.resolve(name).kind === 'found' ? name : (names.suggest(name) ?? name);
  const { return: back, next } = attributes;
  return {
    tag,
    target: target === null ? null : corrected(target),
    attributes: {
      ...attributes,
      ...(back !== undefined && { return: corrected(back) }),
      ...(next !== undefined && { next: corrected(next) }),
    },
  };
}

/** Of these entries those that the prompt asks for in wrong words, which is told at the tag. */
export function findMisrequestedEntries(
  analysis: StateAnalysis,
  { reported, names }: RuleContext,
  entries: readonly PolicyEntry[],
): ReadonlySet<PolicyEntry> {
  const diagnostics = reported.get(analysis.file)?.filter(({ rule }) => MISREQUEST_RULES.includes(rule)) ?? [];
  if (diagnostics.length === 0 || entries.length === 0) return new Set();
  const places = new Set(diagnostics.map(({ at }) => `${at.line}:${at.column}`));
  const tags = analysis.forms.filter(({ at }) => places.has(`${at.line}:${at.column}`));
  return new Set(
    tags.flatMap(({ name, tag }) => {
      const meant = intendedFile(tag.body, names);
      const same = entries.filter(({ target }) => target !== null && intendedFile(target, names) === meant);
      const alike = entries.filter((entry) => entry.tag === name);
      // One of several that are as like as each other may not be meant.
      return same.length > 0 ? same : alike.length === 1 ? alike : [];
    }),
  );
}

const MISREQUEST_RULES = ['forbidden-tag', 'missing-state'];

function intendedFile(written: string, names: StateResolver): string {
  const name = written.trim();
  const found = names.resolve(name);
  return found.kind === 'found' ? found.file : (names.suggest(name) ?? name);
}

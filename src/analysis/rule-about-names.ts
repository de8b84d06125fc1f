import type { BadName } from './bad-names.ts';
import { type Fault, type Rule, rulePerPage, type View } from './rule.ts';

/** A rule about names that lead to no state for this reason; each name once in a file. */
export function ruleAboutNames(
  id: string,
  kind: BadName['found']['kind'],
  hint: (name: string, view: View) => string,
): Rule {
  return rulePerPage(id, 'error', (page, view) => {
    const seen = new Set<string>();
    return (view.badNames.get(page.file) ?? []).flatMap(({ name, at, shown, level, found, hint: own }): Fault[] => {
      if (found.kind !== kind || seen.has(name)) return [];
      seen.add(name);
      return [{ file: page.file, at, message: `${shown}: ${found.message}`, hint: own ?? hint(name, view), level }];
    });
  });
}

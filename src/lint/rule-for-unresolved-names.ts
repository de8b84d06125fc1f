import type { UnresolvedName } from './unresolved-names.ts';
import { type Diagnostic, type Rule, type RuleContext, rulePerState } from './rule.ts';

/** A rule about names that lead to no state for this reason; each name once in a file. */
export function ruleForUnresolvedNames(
  id: string,
  kind: UnresolvedName['found']['kind'],
  hint: (name: string, context: RuleContext) => string,
): Rule {
  return rulePerState(id, 'error', (analysis, context) => {
    const seen = new Set<string>();
    return (context.unresolvedNames.get(analysis.file) ?? []).flatMap(
      ({ name, at, shown, level, found, hint: own }): Diagnostic[] => {
        if (found.kind !== kind || seen.has(name)) return [];
        seen.add(name);
        return [
          { file: analysis.file, at, message: `${shown}: ${found.message}`, hint: own ?? hint(name, context), level },
        ];
      },
    );
  });
}

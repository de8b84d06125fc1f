import { implicitTag } from '../language/policy.ts';
import { type TextPosition, WHOLE_FILE } from '../language/text/text-position.ts';
import type { StateSource } from './workflow-source.ts';

/** Finds a forced transition that the policy does not determine, unless an error of the file may be the reason. */
export function findForcedTransitionProblems({
  state,
  keys,
  findings,
}: StateSource): readonly { readonly at: TextPosition; readonly message: string }[] {
  const { policy, forceImplicit } = state.rules;
  if (forceImplicit !== true || implicitTag(policy) !== undefined) return [];
  if (findings.some(({ level }) => level === 'error')) return [];
  const found = policy.length === 1 ? 'an entry that leaves something open' : `${policy.length} entries`;
  const message = `\`force_implicit\` needs exactly one entry in \`allowed_transitions\` that says all of its transition, not ${found}`;
  return [{ at: keys.force_implicit ?? WHOLE_FILE, message }];
}

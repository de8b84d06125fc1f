import { type Evaluator, implicitTag, namedStates, type Policy, permits } from '../language/policy.ts';
import { compilePattern } from '../language/state.ts';
import { isPrompt, resolveState, type Scope } from '../language/state-names.ts';
import { type TextPosition, WHOLE_FILE } from '../language/text/text.ts';
import type { EntryPositions, StateSource } from './workflow-source.ts';

/** The reasons why an evaluator cannot work as written. */
interface EvaluatorProblem {
  readonly at: TextPosition;
  readonly message: string;
}

/** Finds evaluators that are missing or of the other kind, and overriding transitions that could never be made. */
export function findEvaluatorProblems(
  { state, evaluatorPositions }: StateSource,
  scope: Scope,
): readonly EvaluatorProblem[] {
  const { policy, evaluators = [] } = state.rules;
  return evaluators.flatMap((evaluator, index) => {
    const positions = evaluatorPositions?.[index] ?? { at: WHOLE_FILE, keys: {} };
    return evaluator.kind === 'pattern'
      ? findPatternProblems(evaluator, positions, policy, scope)
      : findFileProblems(evaluator, positions, scope);
  });
}

function findPatternProblems(
  { instead, pattern, overridesOn }: Extract<Evaluator, { kind: 'pattern' }>,
  { at, keys }: EntryPositions,
  policy: Policy,
  scope: Scope,
): readonly EvaluatorProblem[] {
  const key = overridesOn === 'match' ? 'match' : 'unless';
  const compiled = compilePattern(pattern);
  const problems: EvaluatorProblem[] = [];
  if ('problem' in compiled)
    problems.push({ at: keys[key] ?? at, message: `\`${key}\` is no regular expression: ${compiled.problem}` });
  const tag = implicitTag([instead]);
  if (tag === undefined) {
    const missing = instead.tag === 'result' ? 'its text as `payload`' : 'every state that it leads to';
    problems.push({ at: keys.then ?? at, message: `\`then\` must say all of its transition: give ${missing}` });
  }
  const unknown = namedStates(instead).flatMap(([name, state]) => {
    const resolved = resolveState(state, scope);
    if (resolved.kind === 'found') return [];
    return [{ at: keys[`then.${name}`] ?? at, message: `\`${name}\`: ${resolved.message}` }];
  });
  const isForbidden = unknown.length === 0 && tag !== undefined && !permits(policy, tag, scope);
  const message =
    '`allowed_transitions` does not permit the transition of `then`: add it there, or name one that is permitted';
  return [...problems, ...unknown, ...(isForbidden ? [{ at: keys.then ?? at, message }] : [])];
}

function findFileProblems(
  { kind, file }: Exclude<Evaluator, { kind: 'pattern' }>,
  { at, keys }: EntryPositions,
  scope: Scope,
): readonly EvaluatorProblem[] {
  const resolved = resolveState(file, scope);
  const place = keys[kind] ?? at;
  if (resolved.kind !== 'found') return [{ at: place, message: `\`${kind}\`: ${resolved.message}` }];
  if (isPrompt(resolved.file) === (kind === 'prompt')) return [];
  const other = kind === 'prompt' ? 'script' : 'prompt';
  const message = `\`${kind}\`: ${resolved.file} is a ${other}: write \`${other}: ${resolved.file}\``;
  return [{ at: place, message }];
}

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

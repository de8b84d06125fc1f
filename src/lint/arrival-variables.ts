import { type Edge, filesOf, targetsOf } from '../graph/graph.ts';
import { uniqueBy } from '../graph/group-by.ts';
import type { PathStep } from '../graph/reachability.ts';
import type { StateAnalysis } from '../graph/state-analysis.ts';
import { findArrival, findVariableUses, type VariableUse } from '../graph/variables.ts';
import { RUN_VARIABLES } from '../language/variable-names.ts';
import { collapseAnyState, formatStepPath } from './messages.ts';
import type { RuleContext, RuleFinding } from './rule.ts';
import { findScriptVariableUses, isPreparedForUnset } from './script-variables.ts';

/** The transition that must lead to a state for it to have a variable. */
interface Arrival {
  readonly sets: readonly (keyof typeof RUN_VARIABLES)[];
  readonly by: string;
  readonly isMadeBy: (edge: Edge) => boolean;
}

const ARRIVALS: readonly Arrival[] = [
  { sets: ['results', 'results_file'], by: '<join>', isMadeBy: ({ tag }) => tag === 'join' },
  { sets: ['ask_id'], by: '<ask>', isMadeBy: ({ tag }) => tag === 'ask' },
  { sets: ['error'], by: 'guard', isMadeBy: ({ guard }) => guard !== null },
];

/** Finds the uses of variables that only a join, a question or a guard sets, in states that none of them leads to. */
export function findUnsetOnArrival(context: RuleContext): readonly RuleFinding[] {
  const { analyses, graph } = context;
  return ARRIVALS.flatMap(({ sets, by, isMadeBy }): readonly RuleFinding[] => {
    // A state that may make other transitions may make this one, too; guards are all in frontmatter.
    if (by !== 'guard' && graph.nodes.some(({ open }) => open)) return [];
    const targets = graph.edges.filter(isMadeBy).flatMap(targetsOf);
    if (targets.some(({ kind }) => kind === 'any')) return [];
    const reached = new Set(targets.flatMap(filesOf));
    const hint = `Only the state that a ${by} leads to has it: use it there, or write it into a file.`;
    return analyses.flatMap((analysis): readonly RuleFinding[] => {
      const { file, broken } = analysis;
      if (broken || !context.isReached(file) || graph.mereEvaluators.has(file)) return [];
      const uses = findUses(analysis, sets).map(({ name, offset }) => ({ name, at: analysis.positionAt(offset) }));
      if (uses.length === 0) return [];
      if (!reached.has(file))
        return uses.map(({ name, at }) => {
          return { file, at, message: `nothing sets ${name} in ${file}: no ${by} leads here`, hint };
        });
      const path = findPathWithout(file, isMadeBy, context);
      if (path === undefined) return [];
      return uses.map(({ name, at }) => {
        const message = `${name} is not set on this path to ${file}: ${formatStepPath(path, file)}`;
        return { file, at, message, hint, path };
      });
    });
  });
}

/** A path to a state that does not end with such an arrival; undefined if there is none. A guard hands on what there was. */
function findPathWithout(
  file: string,
  isMadeBy: Arrival['isMadeBy'],
  { proof }: RuleContext,
): readonly PathStep[] | undefined {
  const state = proof.flow.numberOf(file);
  const path = findArrival(
    proof,
    state,
    ({ exit: { edge } }) => edge !== null && edge.guard === null && !isMadeBy(edge),
  );
  return path.length > 0 ? collapseAnyState(path) : state === proof.flow.entry ? [] : undefined;
}

/** `{{error}}` of a prompt may also be a variable of one's own: it is looked at with those. */
function findUses({ kind, file, source }: StateAnalysis, sets: Arrival['sets']): readonly VariableUse[] {
  const { text } = source.state;
  if (kind === 'prompt') {
    const uses = findVariableUses(text).filter(({ name }) => name !== 'error' && sets.some((each) => each === name));
    return uniqueBy(uses, ({ name }) => name).map(({ name, offset }) => ({ name: `{{${name}}}`, offset }));
  }
  const names = sets.map((name): string => RUN_VARIABLES[name]);
  const uses = findScriptVariableUses(file, text).filter(
    ({ name }) => names.includes(name) && !isPreparedForUnset(name, text),
  );
  return uniqueBy(uses, ({ name }) => name);
}

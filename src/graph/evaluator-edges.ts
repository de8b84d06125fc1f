import { describeEvaluator } from '../language/evaluator.ts';
import { WHOLE_FILE } from '../language/text/text-position.ts';
import { findPatternEdge, findStateEdges } from './edges.ts';
import { type Edge, type EdgeTarget, type EvaluatorUse, targetsOf } from './graph.ts';
import type { StateAnalysis } from './state-analysis.ts';

/** Finds which scripts and prompts evaluate the answers of which states. */
export const findEvaluatorUses = (analyses: readonly StateAnalysis[]): readonly EvaluatorUse[] =>
  analyses.flatMap(({ file: state, source, names }) =>
    (source.state.rules.evaluators ?? []).flatMap((evaluator) => {
      const file = evaluator.kind === 'pattern' ? undefined : names.fileOf(evaluator.file);
      return file === undefined ? [] : [{ state, file }];
    }),
  );

/** Finds the transitions with which the evaluators of a state can override its own. */
export function findOverrideEdges(
  analysis: StateAnalysis,
  analysisOf: ReadonlyMap<string, StateAnalysis>,
  resetStack: 'keep' | 'clear',
): readonly Edge[] {
  const { evaluators = [], policy } = analysis.source.state.rules;
  if (evaluators.length === 0) return [];
  const permitted = policy.length === 0 ? null : findStateEdges(analysis, resetStack);
  return evaluators.flatMap((evaluator, index) => {
    const at = analysis.source.evaluatorPositions?.[index]?.at ?? WHOLE_FILE;
    if (evaluator.kind === 'pattern') {
      const edge = findPatternEdge(analysis, evaluator.instead, resetStack);
      return [{ ...edge, at, evaluator: describeEvaluator(evaluator) }];
    }
    const file = analysis.names.fileOf(evaluator.file);
    const judge = file === undefined ? undefined : analysisOf.get(file);
    if (judge === undefined) return [];
    return findStateEdges(withoutPolicy(judge), resetStack)
      .filter(({ origin }) => origin !== 'mentioned')
      .filter((edge) => permitted === null || permitted.some((entry) => includes(entry, edge)))
      .map((edge) => ({ ...edge, from: analysis.file, at, evaluator: judge.file }));
  });
}

/** An evaluator's own policy has no meaning: that of the state applies. */
const withoutPolicy = (analysis: StateAnalysis): StateAnalysis => ({
  ...analysis,
  source: { ...analysis.source, state: { ...analysis.source.state, rules: { policy: [], maxVisits: null } } },
});

/** True if an edge is one of those that a policy entry stands for. */
function includes(entry: Edge, edge: Edge): boolean {
  const isSame = (permitted: EdgeTarget | null, wanted: EdgeTarget | null): boolean =>
    permitted?.kind !== 'state' || wanted?.kind !== 'state' || permitted.file === wanted.file;
  return (
    entry.tag === edge.tag &&
    isSame(entry.to, edge.to) &&
    isSame(entry.return, edge.return) &&
    isSame(entry.next, edge.next)
  );
}

/** The files that are nothing but evaluators: no transition leads to them, so an agent never enters them. */
export function findMereEvaluators(
  uses: readonly EvaluatorUse[],
  edges: readonly Edge[],
  entry: string | null,
): ReadonlySet<string> {
  const entered = new Set(
    edges
      .filter(({ origin }) => origin !== 'mentioned')
      .flatMap((edge) => targetsOf(edge).flatMap((target) => (target.kind === 'state' ? target.file : []))),
  );
  return new Set(uses.map(({ file }) => file).filter((file) => file !== entry && !entered.has(file)));
}

import { findStateEdges } from './edges.ts';
import { findEvaluatorUses, findMereEvaluators, findOverrideEdges } from './evaluator-edges.ts';
import { type EdgeTarget, filesOf, type Graph, type GraphNode, targetsOf } from './graph.ts';
import { findGuardEdges } from './guard-edges.ts';
import { analyzeStates, type StateAnalysis } from './state-analysis.ts';
import type { WorkflowSource } from './workflow-source.ts';

/** Builds the graph of a workflow. */
export function buildGraph(
  workflow: WorkflowSource,
  analyses: readonly StateAnalysis[] = analyzeStates(workflow),
): Graph {
  const { resetStack } = workflow;
  const entry = workflow.entry.kind === 'found' ? workflow.entry.file : null;
  const analysisOf = new Map(analyses.map((analysis) => [analysis.file, analysis]));
  const allEdges = analyses.flatMap((analysis) => [
    ...findStateEdges(analysis, resetStack),
    ...findOverrideEdges(analysis, analysisOf, resetStack),
    ...findGuardEdges(analysis, analysis.names),
  ]);
  const evaluatorUses = findEvaluatorUses(analyses);
  const mereEvaluators = findMereEvaluators(evaluatorUses, allEdges, entry);
  const edges = allEdges.filter(({ from }) => !mereEvaluators.has(from));
  const missing = new Map(edges.flatMap((edge) => targetsOf(edge).flatMap(missingName)));
  return {
    name: workflow.name,
    entry,
    nodes: [
      ...analyses.map(nodeOf),
      ...workflow.files.flatMap(({ kind, file }) =>
        kind === 'unreadable' ? { ...EMPTY_NODE, state: file, kind: kindOf(file), open: true } : [],
      ),
      ...[...missing]
        .sort(byName)
        .map(([state, couldBe]) => ({ ...EMPTY_NODE, state, kind: 'missing' as const, couldBe })),
    ],
    edges,
    evaluatorUses,
    mereEvaluators,
  };
}

const EMPTY_NODE = { maxVisits: null, maxVisitsPer: 'agent', description: null, open: false, couldBe: [] } as const;

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

const kindOf = (file: string): 'prompt' | 'script' => (file.endsWith('.md') ? 'prompt' : 'script');

/** A name that leads to no state, and the states that it could mean if it is ambiguous. */
function missingName(target: EdgeTarget): readonly (readonly [string, readonly string[]])[] {
  if (target.kind !== 'missing' || target.name === '') return [];
  return [[target.name, target.others === undefined ? [] : filesOf(target)]];
}

function nodeOf({ file, kind, open, source }: StateAnalysis): GraphNode {
  const { description, rules } = source.state;
  const { maxVisits, guards } = rules;
  const maxVisitsPer = guards?.maxVisitsPer ?? 'agent';
  return { state: file, kind, maxVisits, maxVisitsPer, description, open, couldBe: [] };
}

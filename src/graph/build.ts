import { findStateEdges } from './edges.ts';
import type { EdgeTarget, Graph, GraphNode } from './graph.ts';
import { analyzeStates, type StateAnalysis } from './state-analysis.ts';
import { newStateResolver, type StateResolver } from './state-resolver.ts';
import type { WorkflowSource } from './workflow-source.ts';

/** Draws the map of a workflow. */
export function buildGraph(
  workflow: WorkflowSource,
  analyses: readonly StateAnalysis[] = analyzeStates(workflow),
  names: StateResolver = newWorkflowResolver(workflow),
): Graph {
  const edges = analyses.flatMap((analysis) => findStateEdges(analysis, names, workflow.resetStack));
  const unreadable = workflow.files.filter(({ kind }) => kind === 'unreadable');
  const missing = new Map(edges.flatMap(({ to, return: back, next }) => [to, back, next].flatMap(missingName)));
  return {
    name: workflow.name,
    entry: workflow.entry.kind === 'found' ? workflow.entry.file : null,
    nodes: [
      ...analyses.map(nodeOf),
      ...unreadable.map(({ file }) => ({ ...UNKNOWN_NODE, state: file, kind: kindOf(file), open: true, couldBe: [] })),
      ...[...missing.keys()].sort().map((state) => ({
        ...{ ...UNKNOWN_NODE, state, kind: 'missing' as const, open: false },
        couldBe: missing.get(state) ?? [],
      })),
    ],
    edges,
  };
}

/** Finds the states of a sheet by name. */
export const newWorkflowResolver = ({ files, platform }: WorkflowSource): StateResolver =>
  newStateResolver({ files: files.map(({ file }) => file), platform });

const UNKNOWN_NODE = { maxVisits: null, description: null } as const;

const kindOf = (file: string): 'prompt' | 'script' => (file.endsWith('.md') ? 'prompt' : 'script');

/** A name that leads to no state, and what it may mean if it is ambiguous. */
function missingName(target: EdgeTarget | null): readonly (readonly [string, readonly string[]])[] {
  if (target?.kind !== 'missing' || target.name === '') return [];
  const { name, meant, others } = target;
  return [[name, others === undefined || meant === null ? [] : [meant, ...others]]];
}

function nodeOf({ file, kind, open, source }: StateAnalysis): GraphNode {
  const { description, rules } = source.state;
  return { state: file, kind, maxVisits: rules.maxVisits, description, open, couldBe: [] };
}

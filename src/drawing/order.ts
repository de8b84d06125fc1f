import type { EdgeTarget, Graph } from '../graph/graph.ts';
import { groupBy } from '../graph/group-by.ts';

/**
 * Sorts the states of a workflow as they are reached from its entry, and the transitions by their states, so that the entry
 * is drawn at the top. States that nothing leads to come last.
 */
export function orderByDiscovery(graph: Graph): Graph {
  const edgesOf = groupBy(graph.edges, ({ from }) => from);
  const evaluatorsOf = groupBy(graph.evaluatorUses, ({ state }) => state);
  const order = new Set<string>();
  for (const root of [...(graph.entry === null ? [] : [graph.entry]), ...graph.nodes.map(({ state }) => state)]) {
    if (order.has(root)) continue;
    // Iterating over a set also visits what is added meanwhile.
    const reached = new Set([root]);
    for (const state of reached) {
      for (const { file } of evaluatorsOf.get(state) ?? []) if (!order.has(file)) reached.add(file);
      for (const { to, return: back, next } of edgesOf.get(state) ?? []) {
        for (const name of [to, next, back].flatMap(listTargetNames)) if (!order.has(name)) reached.add(name);
      }
    }
    for (const state of reached) order.add(state);
  }
  // A name that no tag may contain can still be the name of a file: then the file counts.
  const nodes = new Map(graph.nodes.toReversed().map((node) => [node.state, node]));
  return {
    ...graph,
    nodes: [...order].flatMap((state) => nodes.get(state) ?? []),
    edges: [...order].flatMap((state) => edgesOf.get(state) ?? []),
  };
}

/** The states that a target names; an ambiguous name brings all that it could mean. */
function listTargetNames(target: EdgeTarget | null): readonly string[] {
  if (target === null || target.kind === 'any') return [];
  if (target.kind === 'state') return [target.file];
  return [target.name, ...(target.others === undefined ? [] : [target.meant ?? target.name, ...target.others])];
}

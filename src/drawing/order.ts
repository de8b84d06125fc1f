import type { Edge, EdgeTarget, Graph } from '../graph/graph.ts';

/**
 * A workflow with its states in the order in which one comes to them, and the transitions in the order of their states: who
 * draws them in that order has the beginning at the top. What nothing leads to comes last.
 */
export function orderByDiscovery(graph: Graph): Graph {
  const edgesOf = new Map<string, Edge[]>();
  for (const edge of graph.edges) {
    const existing = edgesOf.get(edge.from);
    if (existing === undefined) edgesOf.set(edge.from, [edge]);
    else existing.push(edge);
  }
  const order = new Set<string>();
  for (const root of [...(graph.entry === null ? [] : [graph.entry]), ...graph.nodes.map(({ state }) => state)]) {
    if (order.has(root)) continue;
    // A set is gone through in the order of its growth.
    const reached = new Set([root]);
    for (const state of reached) {
      for (const { to, return: back, next } of edgesOf.get(state) ?? []) {
        for (const name of [to, next, back].flatMap(listTargetNames)) if (!order.has(name)) reached.add(name);
      }
    }
    for (const state of reached) order.add(state);
  }
  // A name that no tag may say can be the name of a file all the same: then the file counts.
  const nodes = new Map(graph.nodes.toReversed().map((node) => [node.state, node]));
  return {
    ...graph,
    nodes: [...order].flatMap((state) => nodes.get(state) ?? []),
    edges: [...order].flatMap((state) => edgesOf.get(state) ?? []),
  };
}

/** What an ambiguous name may mean comes along with it. */
function listTargetNames(target: EdgeTarget | null): readonly string[] {
  if (target === null || target.kind === 'any') return [];
  if (target.kind === 'state') return [target.file];
  return [target.name, ...(target.others === undefined ? [] : [target.meant ?? target.name, ...target.others])];
}

import type { Agent } from '../core/run/agent.ts';
import type { Run } from '../core/run/run.ts';
import { placeOf } from '../core/run/worktree.ts';
import {
  collectTransitions,
  type Edge,
  type EdgeTarget,
  type EdgeTerm,
  type Graph,
  type GraphNode,
} from '../graph/graph.ts';
import { groupBy } from '../graph/group-by.ts';
import { prove } from '../graph/proof.ts';
import { findResultPlaces, type ResultPlaces } from '../graph/result-places.ts';
import { namesakeOf } from '../language/transitions/index.ts';
import { formatAgentLabel } from '../render/agent-labels.ts';
import { formatJoinWait } from '../render/format.ts';
import type { Arrow, ArrowKind, Diagram, DiagramMarker, DiagramShape, PresentAgent, StateShape } from './diagram.ts';
import { formatEdgeTerm, formatPayload } from './labels.ts';
import type { TransitionCounter } from './transition-counter.ts';

/** The counts of transitions and of visits to states. */
export type OverlayCounts = Pick<TransitionCounter, 'states' | 'transitionCounts'>;

/** A run that is drawn over a workflow: the transitions its agents took, and where they are. */
export interface RunOverlay {
  readonly counts: OverlayCounts;
  readonly agents: Run['agents'];
}

/** Composes the diagram of a workflow, with a run over it if there is one. */
export function composeDiagram(workflow: Graph, overlay: RunOverlay | null = null): Diagram {
  const graph = orderByDiscovery(workflow);
  const builder = new DiagramBuilder(graph, overlay);
  if (graph.entry !== null) builder.addArrow(null, 'begin', graph.entry, '');
  const resultPlacesOf = findResultPlaces(prove(graph));
  const callsOf = groupCalls(graph.edges);
  const borrowedNexts = new Set(
    graph.edges.filter(({ borrowsNext }) => borrowsNext).map(({ from, next }) => connectionKey(from, next)),
  );
  const gotos = new Set(graph.edges.filter(isPlainGoto).map(({ from, to }) => connectionKey(from, to)));
  const joins = new Set(graph.edges.filter(({ tag }) => tag === 'join').map(({ from, to }) => connectionKey(from, to)));
  for (const edge of graph.edges) {
    if (isPlainGoto(edge) && borrowedNexts.has(connectionKey(edge.from, edge.to)))
      builder.mergeGoto(edge.from, edge.to);
    else addEdgeArrows(builder, edge, resultPlacesOf);
    if (edge.return !== null) {
      const label = (callsOf.get(edge.from)?.size ?? 0) > 1 ? `return from ${targetName(edge.to)}` : 'return';
      builder.addArrow(edge.from, 'return', edge.return, label);
    }
    // A join beside forks says where their parent continues.
    if (edge.next !== null && !joins.has(connectionKey(edge.from, edge.next))) {
      const isGoto = edge.borrowsNext && gotos.has(connectionKey(edge.from, edge.next));
      builder.addArrow(edge.from, 'next', edge.next, isGoto ? 'goto (next)' : 'next');
    }
  }
  for (const { state, file } of graph.evaluatorUses) builder.addArrow(state, 'evaluator', file, 'evaluator');
  for (const { from, kind, to, times } of overlay?.counts.transitionCounts ?? [])
    builder.countTaken(from, kind, to, times);
  return builder.build();
}

const isPlainGoto = ({ tag, guard }: Edge): boolean => tag === 'goto' && guard === null;

/** Identifies a connection. A goto beside forks and their `next` share one: both are one arrow. */
const connectionKey = (from: string, to: EdgeTarget | null): string => JSON.stringify([from, to?.kind, targetName(to)]);

function addEdgeArrows(builder: DiagramBuilder, edge: Edge, resultPlacesOf: (state: string) => ResultPlaces): void {
  const { from, tag, to, payload, origin, at, guard, evaluator, terms } = edge;
  if (guard !== null) {
    builder.addArrow(from, 'guard', to, `on ${guard}`);
    return;
  }
  const remarks = [
    ...(ORIGIN_REMARKS[origin] ?? []),
    ...(edge.clearsStack ? ['clears the stack'] : []),
    ...(evaluator === null ? [] : [`by ${evaluator}`]),
    ...terms.map(formatEdgeTerm),
    ...(edge.timesOut ? ['timeout'] : []),
  ];
  const name = payload === null ? tag : `${tag} ${formatPayload(payload)}`;
  const label = remarks.length === 0 ? name : `${name} (${remarks.join(', ')})`;
  if (tag === 'result') {
    const { returnsTo, returnsElsewhere, ends } = resultPlacesOf(from);
    for (const place of returnsTo) builder.addArrow(from, 'back', place, label);
    if (returnsElsewhere) builder.addArrow(from, 'back', null, label);
    if (ends) builder.addArrow(from, 'result', null, label);
  } else if (to !== null) {
    // A state that is only named has no tag, and so no position.
    const mention = at.line === 0 ? 'named' : `${tag} (in code)`;
    if (origin === 'mentioned') builder.addArrow(from, 'mentioned', to, mention);
    else builder.addArrow(from, arrowKindOf(tag), to, label, { computed: origin === 'partial-name', terms });
  }
}

/** How a tag is drawn: like the one that does the same for one state of this workflow. */
function arrowKindOf(tag: Edge['tag']): ArrowKind {
  const namesake = namesakeOf(tag);
  return namesake === 'fork-each' ? 'fork' : namesake;
}

const ORIGIN_REMARKS: Readonly<Partial<Record<Edge['origin'], readonly string[]>>> = {
  implicit: ['implicit'],
  'partial-name': ['computed'],
};

/** The states that each state calls: if there are several, a return arrow must say which of them it returns from. */
function groupCalls(edges: readonly Edge[]): ReadonlyMap<string, ReadonlySet<string>> {
  const calls = new Map<string, Set<string>>();
  for (const { from, to, return: back } of edges) {
    if (back !== null) calls.set(from, (calls.get(from) ?? new Set()).add(targetName(to)));
  }
  return calls;
}

function targetName(target: EdgeTarget | null): string {
  if (target?.kind === 'state') return target.file;
  return target?.kind === 'missing' ? target.name : 'any state';
}

interface ArrowDraft extends Omit<Arrow, 'labels' | 'terms'> {
  readonly labels: Set<string>;
  readonly terms: Set<EdgeTerm['kind']>;
}

/** Collects the shapes and arrows of a diagram. Shapes have keys; arrows of one kind between the same shapes are one. */
class DiagramBuilder {
  private readonly graph: Graph;
  private readonly overlay: RunOverlay | null;
  private readonly states = new Map<string, StateShape>();
  private readonly markers = new Map<string, DiagramMarker['kind']>();
  private readonly arrows = new Map<string, ArrowDraft>();
  /** The gotos that have no arrow of their own. */
  private readonly mergedGotos = new Set<string>();

  constructor(graph: Graph, overlay: RunOverlay | null) {
    this.graph = graph;
    this.overlay = overlay;
    const tallies = new Map(overlay?.counts.states.map((tally) => [tally.state, tally]));
    const agentsByState = groupAgentsByState(overlay?.agents ?? []);
    const addState = (node: Omit<GraphNode, 'kind'> & { readonly kind: StateShape['kind'] }): void => {
      const { state } = node;
      // A name that no tag may contain can still be the name of a file.
      if (this.states.has(state)) return;
      const [tally, agents] = [tallies.get(state) ?? null, agentsByState.get(state) ?? []];
      this.states.set(state, { ...node, key: `s${this.states.size}`, tally, agents });
    };
    for (const node of graph.nodes) addState(node.couldBe.length > 0 ? { ...node, kind: 'ambiguous' } : node);
    for (const state of [...tallies.keys(), ...agentsByState.keys()]) {
      addState({
        state,
        kind: 'gone',
        maxVisits: null,
        maxVisitsPer: 'agent',
        description: null,
        open: false,
        couldBe: [],
      });
    }
  }

  /** Adds an arrow of the workflow, or a label to one that exists. */
  addArrow(
    from: string | null,
    kind: ArrowKind,
    to: EdgeTarget | string | null,
    label: string,
    { computed, terms }: Pick<Arrow, 'computed'> & Pick<Edge, 'terms'> = { computed: false, terms: [] },
  ): void {
    const arrow = this.findOrAddArrow(from, kind, this.targetKey(to, from, kind), { unforeseen: false, computed });
    if (label !== '') arrow.labels.add(label);
    for (const { kind: term } of terms) arrow.terms.add(term);
    // A target that one tag computes and another names is no longer only one of several possible ones.
    if (arrow.computed && !computed) this.arrows.set(arrowKey(arrow), { ...arrow, computed });
  }

  /** Lets a goto share the `next` arrow of the forks beside it. */
  mergeGoto(from: string, to: EdgeTarget | null): void {
    this.mergedGotos.add(arrowKey({ from: this.keyOfState(from), kind: 'goto', to: this.targetKey(to, from, 'next') }));
  }

  /**
   * Adds how often a transition was taken. One that the workflow does not have is drawn as unforeseen; if its state has an
   * arrow to any state, that arrow counts it too.
   */
  countTaken(from: string | null, kind: ArrowKind, to: string | null, times: number): void {
    if (from === null && kind !== 'begin') return;
    const ownKey = this.keyOfState(from);
    const target = this.findCallerMarker(from, kind, to) ?? this.targetKey(to, from, kind);
    const drawnAs = this.mergedGotos.has(arrowKey({ from: ownKey, kind, to: target })) ? 'next' : kind;
    const isShown = this.arrows.has(arrowKey({ from: ownKey, kind: drawnAs, to: target }));
    const openArrow = isShown ? undefined : this.arrows.get(arrowKey({ from: ownKey, kind, to: `${ownKey}a` }));
    if (openArrow !== undefined)
      this.arrows.set(arrowKey(openArrow), { ...openArrow, times: (openArrow.times ?? 0) + times });
    const flags = { unforeseen: openArrow === undefined, computed: openArrow !== undefined };
    const arrow = this.findOrAddArrow(from, drawnAs, target, flags);
    if (arrow.labels.size === 0 && kind !== 'begin') arrow.labels.add(kind === 'back' ? 'result' : kind);
    this.arrows.set(arrowKey(arrow), { ...arrow, times: (arrow.times ?? 0) + times });
  }

  /** The finished diagram. */
  build(): Diagram {
    const arrows = [...this.arrows.values()].map((arrow) => ({
      ...arrow,
      labels: [...arrow.labels],
      terms: [...arrow.terms],
    }));
    const passed = new Set(arrows.flatMap(({ from, to, times }) => (times === 0 ? [] : [from, to])));
    const markers = [...this.markers].map(([key, kind]) => ({ key, kind, passed: passed.has(key) }));
    const shapes: readonly DiagramShape[] = [...this.states.values(), ...markers];
    const transitions = collectTransitions(this.graph.edges).length;
    return { name: this.graph.name, shapes, arrows, transitions, hasRun: this.overlay !== null };
  }

  private findOrAddArrow(
    from: string | null,
    kind: ArrowKind,
    to: string,
    flags: Pick<Arrow, 'unforeseen' | 'computed'>,
  ): ArrowDraft {
    const tail =
      from === null ? this.addMarker('begin', 'begin') : (this.states.get(from)?.key ?? this.addMarker('any', 'any'));
    const arrow = {
      from: tail,
      kind,
      to,
      ...flags,
      labels: new Set<string>(),
      terms: new Set<EdgeTerm['kind']>(),
      times: this.overlay && 0,
    };
    const existing = this.arrows.get(arrowKey(arrow));
    if (existing !== undefined) return existing;
    this.arrows.set(arrowKey(arrow), arrow);
    return arrow;
  }

  /** The key of a target. Each state has its own markers: arrows to one end for all would cross the whole picture. */
  private targetKey(to: EdgeTarget | string | null, from: string | null, kind: ArrowKind): string {
    const ownKey = this.keyOfState(from);
    if (to === null)
      return kind === 'back' ? this.addMarker('caller', `${ownKey}b`) : this.addMarker('end', `${ownKey}e`);
    if (typeof to !== 'string' && to.kind === 'any') return this.addMarker('any', `${ownKey}a`);
    const name = typeof to === 'string' ? to : to.kind === 'state' ? to.file : to.name;
    return this.states.get(name)?.key ?? this.addMarker('targetless', `${ownKey}u`);
  }

  /** The marker that stands for all callers of a state, if a return to this one has no arrow of its own. */
  private findCallerMarker(from: string | null, kind: ArrowKind, to: string | null): string | undefined {
    const ownKey = this.keyOfState(from);
    const marker = `${ownKey}b`;
    if (kind !== 'back' || !this.markers.has(marker)) return undefined;
    return this.arrows.has(arrowKey({ from: ownKey, kind, to: this.targetKey(to, from, kind) })) ? undefined : marker;
  }

  private keyOfState(state: string | null): string {
    return this.states.get(state ?? '')?.key ?? '';
  }

  private addMarker(kind: DiagramMarker['kind'], key: string): string {
    this.markers.set(key, kind);
    return key;
  }
}

const arrowKey = ({ from, kind, to }: Pick<Arrow, 'from' | 'kind' | 'to'>): string => `${from} ${kind} ${to}`;

/** The agents in each state, without those that have ended. */
function groupAgentsByState(agents: Run['agents']): ReadonlyMap<string, readonly PresentAgent[]> {
  const present = groupBy(
    agents.filter(({ phase }) => phase.kind !== 'ended'),
    ({ state }) => state,
  );
  return new Map(Array.from(present, ([state, here]) => [state, here.map(toPresentAgent)]));
}

function explainPhase({ phase }: Agent): string | null {
  if (phase.kind === 'joining') return formatJoinWait({ ...phase, untilMs: null }, 0);
  return 'message' in phase ? phase.message : null;
}

const toPresentAgent = (agent: Agent): PresentAgent => ({
  id: agent.id,
  label: formatAgentLabel(agent),
  doing: agent.phase.kind,
  why: explainPhase(agent),
  worktree: placeOf(agent.worktree),
});

/**
 * Sorts the states of a workflow as they are reached from its entry, and the transitions by their states, so that the entry
 * is drawn at the top. States that nothing leads to come last.
 */
function orderByDiscovery(graph: Graph): Graph {
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

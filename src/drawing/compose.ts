import type { Edge, Graph, Node, Target } from '../analysis/graph.ts';
import { prove } from '../analysis/proof.ts';
import { transitionsIn } from '../analysis/transitions.ts';
import type { Run } from '../core/run.ts';
import type { Journey } from './journey.ts';
import { inOrder } from './order.ts';
import type { Arrow, ArrowKind, Mark, Picture, Present, Shape, StateShape } from './picture.ts';

/** Which ways were taken how often, and what was done in each state. */
export type Traffic = Pick<Journey, 'states' | 'ways'>;

/** A run that is drawn over a workflow: the ways its agents took, and where they are. */
export interface Travels {
  readonly journey: Traffic;
  readonly agents: Run['agents'];
}

/** Composes the picture of a workflow, with a run over it if there is one. */
export function compose(workflow: Graph, travels: Travels | null = null): Picture {
  const graph = inOrder(workflow);
  const canvas = new Canvas(graph, travels);
  if (graph.entry !== null) canvas.draw(null, 'begin', graph.entry, '');
  const { flow, reach } = prove(graph);
  const callsOf = groupedCalls(graph.edges);
  const ways = new Set(graph.edges.filter(({ borrowsNext }) => borrowsNext).map(({ from, next }) => wayOf(from, next)));
  const gotos = new Set(graph.edges.filter(({ tag }) => tag === 'goto').map(({ from, to }) => wayOf(from, to)));
  for (const edge of graph.edges) {
    const state = flow.numberOf(edge.from);
    // A state that nothing leads to ends, as far as one can tell, at the bottom.
    const ends = { back: reach.has(state, 'called'), end: reach.has(state, 'bottom') || !reach.has(state) };
    if (edge.tag === 'goto' && ways.has(wayOf(edge.from, edge.to))) canvas.join(edge.from, edge.to);
    else drawEdge(canvas, edge, ends);
    if (edge.return !== null) {
      const label = (callsOf.get(edge.from)?.size ?? 0) > 1 ? `return from ${nameOf(edge.to)}` : 'return';
      canvas.draw(edge.from, 'return', edge.return, label);
    }
    if (edge.next !== null) {
      const isGoto = edge.borrowsNext && gotos.has(wayOf(edge.from, edge.next));
      canvas.draw(edge.from, 'next', edge.next, isGoto ? 'goto (next)' : 'next');
    }
  }
  for (const { from, kind, to, times } of travels?.journey.ways ?? []) canvas.travel(from, kind, to, times);
  return canvas.picture();
}

/** A goto beside forks says where their parent goes on: both are one arrow. */
const wayOf = (from: string, to: Target | null): string => JSON.stringify([from, to?.kind, nameOf(to)]);

function drawEdge(canvas: Canvas, edge: Edge, ends: { readonly back: boolean; readonly end: boolean }): void {
  const { from, tag, to, origin, at } = edge;
  const said = [...(REMARKS[origin] ?? []), ...(edge.clears ? ['clears the stack'] : [])];
  const label = said.length === 0 ? tag : `${tag} (${said.join(', ')})`;
  if (tag === 'result') {
    if (ends.back) canvas.draw(from, 'back', null, label);
    if (ends.end) canvas.draw(from, 'result', null, label);
  } else if (to !== null) {
    // A mere name has no tag, and no place either.
    const guess = at.line === 0 ? 'named' : `${tag} (in code)`;
    if (origin === 'guess') canvas.draw(from, 'guess', to, guess);
    else canvas.draw(from, tag, to, label, origin === 'part');
  }
}

const REMARKS: Readonly<Partial<Record<Edge['origin'], readonly string[]>>> = {
  implicit: ['implicit'],
  part: ['computed'],
};

/** What each state calls: where that is several things, it must be said from which of them one returns. */
function groupedCalls(edges: readonly Edge[]): ReadonlyMap<string, ReadonlySet<string>> {
  const calls = new Map<string, Set<string>>();
  for (const { from, to, return: back } of edges) {
    if (back !== null) calls.set(from, (calls.get(from) ?? new Set()).add(nameOf(to)));
  }
  return calls;
}

function nameOf(target: Target | null): string {
  if (target?.kind === 'state') return target.file;
  return target?.kind === 'missing' ? target.name : 'any state';
}

interface Drawn extends Omit<Arrow, 'labels'> {
  readonly labels: Set<string>;
}

/** Where a picture comes into being: shapes have keys, and arrows that say the same are drawn once. */
class Canvas {
  private readonly graph: Graph;
  private readonly travels: Travels | null;
  private readonly states = new Map<string, StateShape>();
  private readonly marks = new Map<string, Mark['kind']>();
  private readonly arrows = new Map<string, Drawn>();
  /** The gotos that have no arrow of their own. */
  private readonly joined = new Set<string>();

  constructor(graph: Graph, travels: Travels | null) {
    this.graph = graph;
    this.travels = travels;
    const done = new Map(travels?.journey.states.map((tally) => [tally.state, tally]));
    const present = presentIn(travels?.agents ?? []);
    const add = (node: Omit<Node, 'kind'> & { readonly kind: StateShape['kind'] }): void => {
      const { state } = node;
      // A name that no tag may say can be the name of a file all the same.
      if (this.states.has(state)) return;
      const key = `s${this.states.size}`;
      this.states.set(state, { ...node, key, done: done.get(state) ?? null, agents: present.get(state) ?? [] });
    };
    for (const node of graph.nodes) add(node.couldBe.length > 0 ? { ...node, kind: 'ambiguous' } : node);
    for (const state of [...done.keys(), ...present.keys()]) {
      add({ state, kind: 'gone', maxVisits: null, description: null, open: false, couldBe: [] });
    }
  }

  /** Draws one of the ways that the workflow shows. */
  draw(from: string | null, kind: ArrowKind, to: Target | string | null, label: string, computed = false): void {
    const arrow = this.arrow(from, kind, this.target(to, from, kind), { unforeseen: false, computed });
    if (label !== '') arrow.labels.add(label);
    // What is said somewhere in full is no longer one of several.
    if (arrow.computed && !computed) this.arrows.set(keyOf(arrow), { ...arrow, computed });
  }

  /** Lets a goto be the arrow of where the parent of workers goes on. */
  join(from: string, to: Target | null): void {
    this.joined.add(keyOf({ from: this.keyOfState(from), kind: 'goto', to: this.target(to, from, 'next') }));
  }

  /**
   * Enters how often a way was taken; one that the workflow does not show is drawn as well. If it leaves open where to,
   * that is counted, too.
   */
  travel(from: string | null, kind: ArrowKind, to: string | null, times: number): void {
    if (from === null && kind !== 'begin') return;
    const target = this.target(to, from, kind);
    const own = this.keyOfState(from);
    const drawnAs = this.joined.has(keyOf({ from: own, kind, to: target })) ? 'next' : kind;
    const isShown = this.arrows.has(keyOf({ from: own, kind: drawnAs, to: target }));
    const open = isShown ? undefined : this.arrows.get(keyOf({ from: own, kind, to: `${own}a` }));
    if (open !== undefined) this.arrows.set(keyOf(open), { ...open, times: (open.times ?? 0) + times });
    const how = { unforeseen: open === undefined, computed: open !== undefined };
    const arrow = this.arrow(from, drawnAs, target, how);
    if (arrow.labels.size === 0 && kind !== 'begin') arrow.labels.add(kind === 'back' ? 'result' : kind);
    this.arrows.set(keyOf(arrow), { ...arrow, times: (arrow.times ?? 0) + times });
  }

  picture(): Picture {
    const arrows = [...this.arrows.values()].map((arrow) => ({ ...arrow, labels: [...arrow.labels] }));
    const passed = new Set(arrows.flatMap(({ from, to, times }) => (times === 0 ? [] : [from, to])));
    const marks = [...this.marks].map(([key, kind]) => ({ key, kind, passed: passed.has(key) }));
    const shapes: readonly Shape[] = [...this.states.values(), ...marks];
    const transitions = transitionsIn(this.graph.edges).length;
    return { name: this.graph.name, shapes, arrows, transitions, travelled: this.travels !== null };
  }

  private arrow(from: string | null, kind: ArrowKind, to: string, how: Pick<Arrow, 'unforeseen' | 'computed'>): Drawn {
    const tail = from === null ? this.mark('begin', 'begin') : (this.states.get(from)?.key ?? this.mark('any', 'any'));
    const arrow = { from: tail, kind, to, ...how, labels: new Set<string>(), times: this.travels && 0 };
    const before = this.arrows.get(keyOf(arrow));
    if (before !== undefined) return before;
    this.arrows.set(keyOf(arrow), arrow);
    return arrow;
  }

  /** Each state has marks of its own for its results: arrows to one end for all would cross the whole picture. */
  private target(to: Target | string | null, from: string | null, kind: ArrowKind): string {
    const own = this.keyOfState(from);
    if (to === null) return kind === 'back' ? this.mark('back', `${own}b`) : this.mark('end', `${own}e`);
    if (typeof to !== 'string' && to.kind === 'any') return this.mark('any', `${own}a`);
    const name = typeof to === 'string' ? to : to.kind === 'state' ? to.file : to.name;
    return this.states.get(name)?.key ?? this.mark('unsaid', `${own}u`);
  }

  private keyOfState(state: string | null): string {
    return this.states.get(state ?? '')?.key ?? '';
  }

  private mark(kind: Mark['kind'], key: string): string {
    this.marks.set(key, kind);
    return key;
  }
}

const keyOf = ({ from, kind, to }: Pick<Arrow, 'from' | 'kind' | 'to'>): string => `${from} ${kind} ${to}`;

/** Who is where. Those that have come to their end are nowhere any more. */
function presentIn(agents: Run['agents']): ReadonlyMap<string, readonly Present[]> {
  const present = new Map<string, Present[]>();
  for (const { id, state, phase } of agents) {
    if (phase.kind === 'ended') continue;
    const here = present.get(state) ?? [];
    here.push({ id, doing: phase.kind, why: 'message' in phase ? phase.message : null });
    present.set(state, here);
  }
  return present;
}

import { buildGraph } from '../analysis/build.ts';
import type { Edge, Graph, Target } from '../analysis/graph.ts';
import type { Sheet } from '../analysis/sheet.ts';
import { transitionsIn } from '../analysis/transitions.ts';
import type { PolicyEntry } from '../core/policy.ts';
import { DEFAULT_OPTIONS } from '../core/run.ts';
import { Journey, type Way } from '../drawing/journey.ts';
import type { StateTally } from '../observers/tally.ts';
import type { Workflow } from '../workflow/load.ts';
import { readSheet } from '../workflow/sheet.ts';
import type { Performance } from './rehearse.ts';
import { fits, nameOf } from './takings.ts';
import type { Deed } from './witness.ts';

/** Something that a workflow has, and how often the scenarios made use of it. */
export interface Item {
  /** The state that it is, or is a part of. */
  readonly file: string;
  /** Where it stands there; 0 for the file as a whole. */
  readonly line: number;
  /** What it is: `goto CHECK.sh`. */
  readonly label: string;
  readonly times: number;
}

export const KINDS = ['states', 'transitions', 'entries'] as const;

/** Which states, transitions and policy entries of a workflow some scenarios took. */
export interface Coverage extends Readonly<Record<(typeof KINDS)[number], readonly Item[]>> {
  readonly workflow: Workflow;
  /** In the words of the pictures that are drawn of runs. */
  readonly traffic: { readonly states: readonly StateTally[]; readonly ways: readonly Way[] };
}

/** Gathers what scenarios took, workflow by workflow. */
export class Coverages {
  private readonly seen = new Map<Workflow, { readonly journey: Journey; readonly deeds: Deed[] }>();
  private count = 0;

  add(workflow: Workflow, { events, witness }: Performance): void {
    const { journey, deeds } = this.seen.get(workflow) ?? { journey: new Journey(), deeds: [] };
    this.seen.set(workflow, { journey, deeds });
    this.count += 1;
    // The agents of each scenario are others, though they go by the same names.
    for (const event of events) {
      if (!('agent' in event)) journey.tell(event);
      else if (event.kind !== 'agent_started') journey.tell({ ...event, agent: this.own(event.agent) });
      else {
        const parent = event.parent === null ? null : this.own(event.parent);
        journey.tell({ ...event, agent: this.own(event.agent), parent });
      }
    }
    deeds.push(...witness.deeds);
  }

  /** What they come to, in the order of the workflows' paths: which was played first is chance. */
  async all(): Promise<readonly Coverage[]> {
    return Promise.all(
      [...this.seen].toSorted(byPath).map(async ([workflow, { journey, deeds }]) => {
        const { states, ways } = journey;
        const circumstances = { platform: workflow.platform, resetStack: DEFAULT_OPTIONS.resetStack, variables: [] };
        const { sheet } = await readSheet(workflow.path, circumstances);
        return { workflow, ...itemsOf(sheet, states, deeds), traffic: { states, ways } };
      }),
    );
  }

  private own(agent: string): string {
    return `${this.count} ${agent}`;
  }
}

const byPath = ([a]: readonly [Workflow, unknown], [b]: readonly [Workflow, unknown]): number =>
  a.path < b.path ? -1 : a.path > b.path ? 1 : 0;

/** How much of it was taken, in percent; all of it if there is nothing. */
export function percentOf(items: readonly Item[]): number {
  const taken = items.filter(({ times }) => times > 0).length;
  return items.length === 0 ? 100 : (100 * taken) / items.length;
}

/** All that some workflows have. */
export const everything = (coverages: readonly Coverage[]): readonly Item[] =>
  coverages.flatMap((coverage) => KINDS.flatMap((kind) => coverage[kind]));

function itemsOf(
  sheet: Sheet,
  tallies: readonly StateTally[],
  deeds: readonly Deed[],
): Pick<Coverage, (typeof KINDS)[number]> {
  const graph = buildGraph(sheet);
  const visits = new Map(tallies.map(({ state, visits: times }) => [state, times]));
  const reached = sheet.entryGiven ? statesFrom(graph) : null;
  const isOurs = (state: string): boolean => reached === null || reached.has(state) || visits.has(state);
  const states = graph.nodes.filter(({ kind, state }) => kind !== 'missing' && isOurs(state));
  const edges = transitionsIn(graph.edges.filter((edge) => isOurs(edge.from)));
  const times = timesTaken(edges, deeds);
  return {
    states: states.map(({ state }) => ({ file: state, line: 0, label: state, times: visits.get(state) ?? 0 })),
    transitions: edges.map((edge, at) => {
      return { file: edge.from, line: edge.at.line, label: labelOf(edge), times: times[at] ?? 0 };
    }),
    entries: sheet.files.flatMap((file) => {
      if (file.kind !== 'state' || !isOurs(file.file)) return [];
      return file.state.rules.policy.map((entry, at) => ({
        ...{ file: file.file, line: file.entries[at]?.at.line ?? 0, label: entryLabel(entry) },
        times: deeds.filter((deed) => deed.from === file.file && deed.entries.includes(at)).length,
      }));
    }),
  };
}

/** For each edge how often it was taken. One that leaves a name open is only taken where no other says it, unless it permits all. */
function timesTaken(edges: readonly Edge[], deeds: readonly Deed[]): readonly number[] {
  const times = edges.map(() => 0);
  for (const deed of deeds) {
    const fitting = [...edges.entries()].filter(([, edge]) => fits(edge, deed));
    const exact = fitting.filter(([, edge]) => !isOpen(edge));
    const permitted = fitting.filter(([, edge]) => isOpen(edge) && edge.origin === 'policy');
    for (const [at] of exact.length > 0 ? [...exact, ...permitted] : fitting) times[at] = (times[at] ?? 0) + 1;
  }
  return times;
}

const isOpen = ({ to, return: back, next }: Edge): boolean => [to, back, next].some((each) => each?.kind === 'any');

/** The states that can be come to from the entry. */
function statesFrom({ entry, edges }: Graph): ReadonlySet<string> {
  const reached = new Set(entry === null ? [] : [entry]);
  for (const state of reached) {
    for (const { to, return: back, next } of edges.filter(({ from }) => from === state)) {
      for (const target of [to, back, next]) if (target?.kind === 'state') reached.add(target.file);
    }
  }
  return reached;
}

const name = (target: Target | null): string | null => nameOf(target, 'any state');

function labelOf({ tag, to, return: back, next }: Edge): string {
  const more = [back === null ? '' : `return ${name(back)}`, next === null ? '' : `next ${name(next)}`];
  return [tag, name(to), ...more].filter(Boolean).join(' ');
}

function entryLabel({ tag, target, attributes }: PolicyEntry): string {
  const more = Object.entries(attributes).map(([name, value]) => `${name} ${value}`);
  return [tag, target, ...more].filter(Boolean).join(' ');
}

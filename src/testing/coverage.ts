import { addBashSyntaxErrors } from '../app/workflows/lint-workflow.ts';
import { readCommandOutput } from '../bash/command-output.ts';
import { parseScript } from '../bash/parse.ts';
import { listSimpleCommands } from '../bash/walk.ts';
import type { Event, Transitioned } from '../core/run/event.ts';
import { formatPayload } from '../drawing/labels.ts';
import { type TransitionCount, TransitionCounter } from '../drawing/transition-counter.ts';
import { buildGraph } from '../graph/build.ts';
import { collectTransitions, type Edge, type EdgeTarget, type Graph, targetsOf } from '../graph/graph.ts';
import { sourceScope, type WorkflowSource } from '../graph/workflow-source.ts';
import type { GuardOutcome } from '../language/guards.ts';
import { workflowNameOf } from '../language/named-workflows.ts';
import { type PolicyEntry, permits } from '../language/policy.ts';
import type { Scope } from '../language/state-names.ts';
import type { FollowedTag } from '../language/tags/followed-tag.ts';
import { memoize } from '../language/text/memoize.ts';
import { type LintFinding, lintSource } from '../lint/lint.ts';
import type { StateTally } from '../render/run-tally.ts';
import type { Workflow } from '../workflow/workflow.ts';
import type { TestRun } from './run-scenario.ts';

/** A part of a workflow, and how often the tests made use of it. */
export interface CoverageItem {
  /** The file of the state. */
  readonly file: string;
  /** The line in that file; 0 for the file as a whole. */
  readonly line: number;
  /** Its name in reports, such as `goto CHECK.sh`. */
  readonly label: string;
  readonly times: number;
}

/** The parts of a workflow that are counted. */
export const COVERAGE_KINDS = ['states', 'transitions', 'entries'] as const;

/** The states, transitions and policy entries of a workflow, each with how often tests took it. */
export interface Coverage extends Readonly<Record<(typeof COVERAGE_KINDS)[number], readonly CoverageItem[]>> {
  readonly workflow: Workflow;
  /** The same as counts of states and arrows, for drawings. */
  readonly traffic: { readonly states: readonly StateTally[]; readonly transitionCounts: readonly TransitionCount[] };
}

/** Collects the events of test runs and computes the coverage of each workflow. */
export class CoverageCollector {
  private readonly byWorkflow = new Map<
    Workflow,
    { readonly counter: TransitionCounter; readonly takenTags: TakenTag[] }
  >();

  add(workflow: Workflow, { events }: TestRun): void {
    const { counter, takenTags } = this.byWorkflow.get(workflow) ?? { counter: new TransitionCounter(), takenTags: [] };
    this.byWorkflow.set(workflow, { counter, takenTags });
    for (const event of events) counter.add(event);
    for (const tag of collectTakenTags(events)) takenTags.push(tag);
  }

  /** The coverage of all workflows, by path: tests run in parallel, so their order is chance. */
  async collect(): Promise<readonly Coverage[]> {
    return Promise.all(
      [...this.byWorkflow].toSorted(compareWorkflowPaths).map(async ([workflow, { counter, takenTags }]) => {
        const { states, transitionCounts } = counter;
        const items = collectItems(await readWorkflowFacts(workflow), states, takenTags);
        return { workflow, ...items, traffic: { states, transitionCounts } };
      }),
    );
  }
}

const compareWorkflowPaths = ([a]: readonly [Workflow, unknown], [b]: readonly [Workflow, unknown]): number =>
  a.path < b.path ? -1 : a.path > b.path ? 1 : 0;

/** The percentage of items that were taken; 100 if there are none. */
export function coveredPercent(items: readonly CoverageItem[]): number {
  const taken = items.filter(({ times }) => times > 0).length;
  return items.length === 0 ? 100 : (100 * taken) / items.length;
}

/** All items of several workflows. */
export const allCoverageItems = (coverages: readonly Coverage[]): readonly CoverageItem[] =>
  coverages.flatMap((coverage) => COVERAGE_KINDS.flatMap((kind) => coverage[kind]));

function collectItems(
  { source, getGraph }: WorkflowFacts,
  tallies: readonly StateTally[],
  takenTags: readonly TakenTag[],
): Pick<Coverage, (typeof COVERAGE_KINDS)[number]> {
  const graph = getGraph();
  const visits = new Map(tallies.map(({ state, visits: times }) => [state, times]));
  const reached = source.entryGiven || source.called !== undefined ? reachableStates(graph) : null;
  // Of the workflows that are called, only what can be reached from here is tested here.
  const isOwn = (state: string): boolean => !source.entryGiven && workflowNameOf(state) === null;
  const isRelevant = (state: string): boolean =>
    reached === null || isOwn(state) || reached.has(state) || visits.has(state);
  const states = graph.nodes.filter(({ kind, state }) => kind !== 'missing' && isRelevant(state));
  const edges = collectTransitions(graph.edges.filter((edge) => isRelevant(edge.from)));
  const times = countTaken(edges, takenTags);
  return {
    states: states.map(({ state }) => ({ file: state, line: 0, label: state, times: visits.get(state) ?? 0 })),
    transitions: edges.map((edge, at) => {
      return { file: edge.from, line: edge.at.line, label: formatEdge(edge), times: times[at] ?? 0 };
    }),
    entries: source.files.flatMap((file) => {
      if (file.kind !== 'state' || !isRelevant(file.file)) return [];
      const scope = sourceScope(source, workflowNameOf(file.file));
      return file.state.rules.policy.map((entry, at) => ({
        file: file.file,
        line: file.entries[at]?.at.line ?? 0,
        label: formatPolicyEntry(entry),
        times: takenTags.filter((takenTag) => takenTag.from === file.file && isPermittedBy(entry, takenTag, scope))
          .length,
      }));
    }),
  };
}

function isPermittedBy(entry: PolicyEntry, { tag, guard, payload, written }: TakenTag, scope: Scope): boolean {
  if (guard !== null) return false;
  const { target, attributes } = written;
  return permits([entry], { name: tag, body: target ?? payload ?? '', attributes, repeated: [], line: 0 }, scope);
}

/**
 * Counts how often each edge was taken. An edge that leaves a state open counts only where no exact edge matches, unless it
 * stands for a policy entry.
 */
function countTaken(edges: readonly Edge[], takenTags: readonly TakenTag[]): readonly number[] {
  const times = edges.map(() => 0);
  for (const takenTag of takenTags) {
    const matching = [...edges.entries()].filter(([, edge]) => matchesEdge(edge, takenTag));
    const exact = matching.filter(([, edge]) => !hasWildcard(edge));
    const permitted = matching.filter(([, edge]) => hasWildcard(edge) && edge.origin === 'policy');
    for (const [at] of exact.length > 0 ? [...exact, ...permitted] : matching) times[at] = (times[at] ?? 0) + 1;
  }
  return times;
}

const hasWildcard = (edge: Edge): boolean => targetsOf(edge).some(({ kind }) => kind === 'any');

/** The states that can be reached from the entry, and their evaluators. */
function reachableStates({ entry, edges, evaluatorUses }: Graph): ReadonlySet<string> {
  const reached = new Set(entry === null ? [] : [entry]);
  for (const state of reached) {
    for (const use of evaluatorUses) if (use.state === state) reached.add(use.file);
    for (const edge of edges.filter(({ from }) => from === state)) {
      for (const target of targetsOf(edge)) if (target.kind === 'state') reached.add(target.file);
    }
  }
  return reached;
}

const targetLabel = (target: EdgeTarget | null): string | null => formatEdgeTarget(target, 'any state');

function formatEdge({ tag, guard, to, payload, evaluator, return: returnTo, next }: Edge): string {
  if (guard !== null) return `on ${guard} ${targetLabel(to)}`;
  const more = [
    returnTo === null ? '' : `return ${targetLabel(returnTo)}`,
    next === null ? '' : `next ${targetLabel(next)}`,
    evaluator === null ? '' : `(by ${evaluator})`,
  ];
  return [tag, targetLabel(to), payload && formatPayload(payload), ...more].filter(Boolean).join(' ');
}

function formatPolicyEntry({ tag, target, payload, attributes }: PolicyEntry): string {
  const more = Object.entries(attributes).map(([name, value]) => `${name} ${value}`);
  return [tag, target, payload && formatPayload(payload), ...more].filter(Boolean).join(' ');
}

/** A tag that an agent followed, and the state it left with it. */
export interface TakenTag extends FollowedTag {
  readonly from: string;
  /** The guard that made this transition; null for an answer. */
  readonly guard: GuardOutcome | null;
  /** The text of a result; null for other tags. */
  readonly payload: string | null;
  /** The evaluator that decided on it; null if the state did. */
  readonly evaluator: string | null;
  /** The state that the agent went to; null if it ended. */
  readonly to: string | null;
  /** True if it went there because nobody answered in time. */
  readonly timedOut: boolean;
}

/** The tags that the agents of a run followed, in the order of its events. */
export function collectTakenTags(events: readonly Event[]): readonly TakenTag[] {
  /** By agent, the join that it waits at. */
  const joins = new Map<string, TakenTag>();
  return events.flatMap((event, index): readonly TakenTag[] => {
    if (event.kind === 'joined') {
      const join = joins.get(event.agent);
      return event.timedOut && join !== undefined ? [{ ...join, to: event.to, timedOut: true }] : [];
    }
    if (event.kind !== 'transition') return [];
    const tags = listTags(event, events[index - 1]?.kind === 'ask_timed_out');
    for (const tag of tags) if (tag.tag === 'join') joins.set(event.agent, tag);
    return tags;
  });
}

function listTags(event: Transitioned, timedOut: boolean): readonly TakenTag[] {
  const { state: from, tag, to, tags, input, guard, choice } = event;
  const attributes = {};
  if (guard !== undefined) {
    const written = { target: to, attributes };
    const taken = { from, tag, target: to, to, timedOut, attributes, written, guard: guard.outcome };
    return [{ ...taken, payload: null, evaluator: null }];
  }
  const evaluator = choice.by === 'evaluator' ? choice.name : null;
  return tags.map((each) => {
    const payload = each.tag === 'result' ? input : null;
    return { ...each, from, to, timedOut, guard: null, payload, evaluator };
  });
}

/**
 * True if an edge of the graph stands for this tag. An edge that leaves a state open stands for every state there; one of an
 * evaluator only for what that evaluator decided.
 */
export function matchesEdge(edge: Edge, taken: TakenTag): boolean {
  const { from, tag, guard, target, payload, evaluator, attributes, to, timedOut } = taken;
  const matches = (edgeTarget: EdgeTarget | null, state: string | null | undefined): boolean =>
    edgeTarget?.kind !== 'state' || edgeTarget.file === state;
  return (
    edge.from === from &&
    edge.guard === guard &&
    (guard !== null || edge.tag === tag) &&
    (edge.evaluator === null || edge.evaluator === evaluator) &&
    (edge.payload === null || edge.payload === payload) &&
    edge.timesOut === timedOut &&
    matches(edge.to, tag === 'ask' || timedOut ? to : target) &&
    matches(edge.return, attributes.return) &&
    matches(edge.next, attributes.next)
  );
}

/** The name of an edge's target, or the wildcard where the state is left open; null if there is no target. */
export function formatEdgeTarget(target: EdgeTarget | null, wildcard: string): string | null {
  if (target === null) return null;
  return target.kind === 'state' ? target.file : target.kind === 'missing' ? target.name : wildcard;
}

/** The facts in the files of a workflow, independent of any scenario. */
export interface WorkflowFacts {
  readonly source: WorkflowSource;
  /** Built when it is first asked for: most tests do without. */
  readonly getGraph: () => Graph;
  /** The lint findings of a state that a test would not notice, because its answers are canned. */
  readonly findingsFor: (state: string) => readonly LintFinding[];
  readonly textOf: (state: string) => string;
  /** Every tag that a script can print; null if it may print what its text does not show. */
  readonly edgesOf: (script: string) => readonly Edge[] | null;
}

/** Reads the facts of a workflow, once for all of its test cases. */
export const readWorkflowFacts = memoize(async ({ source }: Workflow): Promise<WorkflowFacts> => {
  const findings = lintSource(await addBashSyntaxErrors(source)).filter(isHiddenByReplay);
  const texts = new Map(source.files.flatMap((each) => (each.kind === 'state' ? [[each.file, each.state.text]] : [])));
  const textOf = (state: string): string => texts.get(state) ?? '';
  const graphOf = memoize(buildGraph);
  const getGraph = (): Graph => graphOf(source);
  return {
    source,
    getGraph,
    textOf,
    findingsFor: (state) => findings.filter(({ file }) => file === state),
    edgesOf(script) {
      const { nodes, edges } = getGraph();
      const isOpen = nodes.some(({ state, open }) => state === script && open);
      return isOpen || !isSelfContained(script, textOf(script)) ? null : edges.filter(({ from }) => from === script);
    },
  };
});

/** True if a real run would meet the problem while a replay passes it by: a canned answer does not depend on the prompt. */
const isHiddenByReplay = ({ level, rule }: LintFinding): boolean =>
  level === 'error' || rule === 'missing-state' || rule === 'unmentioned-entry';

/**
 * True if all that a script prints stands in its own text: it lets no unknown program print and reads in no other file.
 * Only then is it certain that it cannot print some tag.
 */
function isSelfContained(file: string, text: string): boolean {
  const script = file.endsWith('.sh') ? parseScript(text) : undefined;
  if (script === undefined) return false;
  const printing = listSimpleCommands(script.commands).filter(({ context }) => context.keepsStdout);
  const ownFunctions = new Set(printing.map(({ context }) => context.functionName));
  return printing.every(({ command }) => {
    const isElsewhere = readCommandOutput(command).isUnknownProgram || ['source', '.'].includes(command.name);
    return ownFunctions.has(command.name) || !isElsewhere;
  });
}

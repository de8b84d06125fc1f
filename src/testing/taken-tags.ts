import { addBashSyntaxErrors } from '../app/workflows/bash-syntax.ts';
import { readCommandOutput } from '../bash/command-output.ts';
import { parseScript } from '../bash/parse.ts';
import { listSimpleCommands } from '../bash/walk.ts';
import type { Event, Transitioned } from '../core/run/event.ts';
import { buildGraph } from '../graph/build.ts';
import type { Edge, EdgeTarget, Graph } from '../graph/graph.ts';
import type { WorkflowSource } from '../graph/workflow-source.ts';
import type { GuardOutcome } from '../language/guards.ts';
import type { FollowedTag } from '../language/tags/followed-tag.ts';
import { memoize } from '../language/text/memoize.ts';
import { type LintFinding, lintSource } from '../lint/lint.ts';
import type { Workflow } from '../workflow/workflow.ts';

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

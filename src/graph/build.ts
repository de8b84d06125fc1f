import { GUARD_OUTCOMES, startsNewSession } from '../language/guards.ts';
import { describeEvaluator } from '../language/state.ts';
import { WHOLE_FILE } from '../language/text/text.ts';
import { findPatternEdge, findStateEdges } from './edges.ts';
import {
  type Edge,
  type EdgeTarget,
  type EvaluatorUse,
  filesOf,
  type Graph,
  type GraphNode,
  targetsOf,
} from './graph.ts';
import { analyzeStates, type StateAnalysis } from './state-analysis.ts';
import type { StateResolver } from './state-resolver.ts';
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

/** Finds which scripts and prompts evaluate the answers of which states. */
const findEvaluatorUses = (analyses: readonly StateAnalysis[]): readonly EvaluatorUse[] =>
  analyses.flatMap(({ file: state, source, names }) =>
    (source.state.rules.evaluators ?? []).flatMap((evaluator) => {
      const file = evaluator.kind === 'pattern' ? undefined : names.fileOf(evaluator.file);
      return file === undefined ? [] : [{ state, file }];
    }),
  );

/** Finds the transitions with which the evaluators of a state can override its own. */
function findOverrideEdges(
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
function findMereEvaluators(
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

/** Finds the transitions that a state's guards make of its outcomes. */
function findGuardEdges({ file, source }: StateAnalysis, names: StateResolver): readonly Edge[] {
  const { on = {} } = source.state.rules.guards ?? {};
  return GUARD_OUTCOMES.flatMap((guard): readonly Edge[] => {
    const name = on[guard];
    if (name === undefined) return [];
    return [
      {
        from: file,
        tag: startsNewSession(guard) ? 'reset' : 'goto',
        guard,
        evaluator: null,
        to: findTarget(name, names),
        payload: null,
        return: null,
        next: null,
        borrowsNext: false,
        timesOut: false,
        clearsStack: false,
        variables: [],
        terms: [],
        origin: 'guard',
        at: source.keys[`on.${guard}`] ?? WHOLE_FILE,
        // The next state gets what this one had.
        passesInput: 'perhaps',
      },
    ];
  });
}

function findTarget(name: string, names: StateResolver): EdgeTarget {
  const found = names.resolve(name);
  if (found.kind === 'found') return { kind: 'state', file: found.file };
  const meant = names.suggest(name);
  if (found.kind !== 'ambiguous') return { kind: 'missing', name, meant };
  return { kind: 'missing', name, meant, others: names.candidatesFor(name).filter((file) => file !== meant) };
}

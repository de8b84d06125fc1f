import { isAnswer } from '../../graph/control-flow.ts';
import type { EndlessCycle } from '../../graph/endless-cycles.ts';
import { filesOf, targetsOf } from '../../graph/graph.ts';
import type { PathStep } from '../../graph/reachability.ts';
import type { StateAnalysis } from '../../graph/state-analysis.ts';
import { hasCycle } from '../../graph/strongly-connected.ts';
import { WHOLE_FILE } from '../../language/text/text.ts';
import { startsWorkers } from '../../language/transitions/index.ts';
import { levelOfCycle, namesOf, reportEndlessCycles } from '../cycle-findings.ts';
import { collapseAnyState, formatStepPath, quoteTag } from '../messages.ts';
import { defineRule, defineStateRule, type LintLevel, type RuleContext, type RuleFinding } from '../rule.ts';

/** A script prints its tags in a loop that may have nothing to go through. */
export const emptyLoop = defineStateRule({ id: 'empty-loop', level: 'info' }, (analysis) =>
  (analysis.paths?.outputs ?? []).flatMap((output, _, all) => {
    // `silent-path` reports scripts that may print nothing at all.
    if (output.kind !== 'skipped' || all.some(({ kind }) => kind === 'nothing')) return [];
    const message = 'if this loop has nothing to iterate over, the script prints no tag';
    const hint = 'If that can happen, print another tag then, or make the script fail with a message.';
    return [{ at: analysis.positionAt(output.loop), message, hint }];
  }),
);

/** Nothing leads out of a loop. */
export const endlessLoop = defineRule({ id: 'endless-loop', level: 'warning' }, (context) =>
  reportEndlessCycles(context, ({ kind, level, bounded }) => kind === 'loop' && level === 'bottom' && !bounded, {
    what: 'this loop has no way out',
    hint: 'Make one of these states answer with a <result>, or lead to one that does. If the loop is intended, say so: `# lint: allow endless-loop`.',
    level: () => 'warning',
  }),
);

/** Calls go deeper and deeper and none of them ever returns. */
export const endlessRecursion = defineRule({ id: 'endless-recursion', level: 'error' }, (context) =>
  reportEndlessCycles(context, ({ kind, bounded }) => kind === 'recursion' && !bounded, {
    what: 'these calls nest deeper and deeper, and none of them can return',
    hint: 'Make one of these states answer with a <result> without calling again.',
    level: levelOfCycle,
  }),
);

/** Only `max_visits` stops a loop, so that its agent never completes. */
export const endsOnlyByLimit = defineRule({ id: 'ends-only-by-limit', level: 'warning' }, (context) =>
  reportEndlessCycles(context, ({ kind, level, bounded }) => kind !== 'recursion' && level === 'bottom' && bounded, {
    what: 'only `max_visits` ends this loop, so the run never completes',
    hint: 'Make one of these states answer with a <result> when its work is done.',
    level: (_, context) => (canEnd(context) ? 'info' : 'warning'),
  }),
);

/** True if the workflow can end on another path. */
const canEnd = ({ graph, proof }: RuleContext): boolean =>
  graph.entry !== null && proof.ends.ends[proof.flow.numberOf(graph.entry)] === true;

/** A call never returns, because its callee can never reach a `<result>`. */
export const neverReturns = defineRule({ id: 'never-returns', level: 'warning' }, (context) => [
  ...context.proof.endless.filter(isCalledCycle).flatMap((cycle) => {
    const { path, round } = cycle;
    const call = path.findLast(({ how }) => how === 'enter') ?? round.find(({ how }) => how === 'enter');
    if (call === undefined) return [];
    const why = 'no path from there leads to a <result>';
    return [{ ...diagnoseCall(call, [...path, ...round], why), causes: namesOf(cycle, context) }];
  }),
  ...context.proof.abandoned.flatMap(({ by, path }) => {
    const call = path.at(-1);
    const state = context.proof.flow.names[by] ?? '';
    if (call === undefined) return [];
    const hint =
      context.workflow.resetStack === 'clear'
        ? `Write stack="keep" on the <reset> of ${state}: without it, the return stack is cleared here.`
        : `Remove stack="clear" from the <reset> of ${state}, so that its callers get their result.`;
    return [{ ...diagnoseCall(call, path, `${state} clears the return stack`), hint, causes: [] }];
  }),
]);

/** Other cycles have rules of their own: those that are reached outside of any call, and those that call without bound. */
const isCalledCycle = ({ kind, level, bounded }: EndlessCycle): boolean =>
  kind === 'recursion' ? bounded : level === 'called' && (kind === 'loop' || bounded);

function diagnoseCall(call: PathStep, path: readonly PathStep[], why: string): RuleFinding {
  const message = `the <${call.tag ?? 'call'}> of ${call.to} never returns, because ${why}: ${formatStepPath(path, call.from)}`;
  const hint = `Make ${call.to} reach a <result>, or go there with <goto> or <reset> if nobody waits for it.`;
  return { file: call.from, at: call.at ?? WHOLE_FILE, message, hint, path: collapseAnyState(path) };
}

/** A state shows no transition at all. */
export const noWayOut = defineRule(
  { id: 'no-way-out', level: 'warning', supersedes: ['unreachable-state'] },
  (context) => {
    const withExits = new Set(
      context.graph.edges.filter((edge) => isAnswer(edge) || edge.guard === 'no_tag').map(({ from }) => from),
    );
    return context.analyses
      .filter((analysis) => context.isIntendedState(analysis) && !analysis.open)
      .filter((analysis) => !withExits.has(analysis.file) || isSilentScript(analysis))
      .filter(({ file }) => !context.graph.mereEvaluators.has(file))
      .map(diagnoseState);
  },
);

/** True if a script prints nothing that could be a tag: a policy does not say it for a script. */
const isSilentScript = ({ kind, tags, unclosedTags, source }: StateAnalysis): boolean =>
  kind === 'script' &&
  tags.length === 0 &&
  unclosedTags.length === 0 &&
  source.state.rules.guards?.on.no_tag === undefined;

const POLICY_KEY = 'allowed_transitions';

function diagnoseState({ file, kind, positionAt, source, expandedTags }: StateAnalysis): RuleFinding {
  const at = positionAt(0);
  const [lost] = expandedTags;
  if (kind === 'script' && lost !== undefined) {
    const message = `there is no way out of ${file}: it prints ${quoteTag(lost.name, lost.tag)}, which leads to no state`;
    return { file, at: lost.at, message, hint: 'Print the name of a state of this workflow.', level: 'error' };
  }
  if (kind === 'script') {
    const hint = 'Print one tag on every path, such as <result>done</result>.';
    return { file, at, message: `there is no way out of ${file}: the script prints no tag`, hint, level: 'error' };
  }
  const why =
    source.keys[POLICY_KEY] === undefined ? 'it has no `allowed_transitions`' : 'its `allowed_transitions` are empty';
  const message = `there is no way out of ${file}: the prompt names no tag to answer with, and ${why}`;
  return { file, at, message, hint: 'Say in the prompt which tag to answer with, or give it `allowed_transitions`.' };
}

/** Workers are forked without end. */
export const forkBomb = defineRule({ id: 'fork-bomb', level: 'error' }, (context) => [
  ...reportEndlessCycles(context, ({ kind, bounded }) => kind === 'forks' && !bounded, {
    what: 'this loop forks workers and has no way out',
    hint: 'Make it reach a <result> when everything is forked, or set `max_visits` on one of its prompts. If the loop is intended, say so: `# lint: allow fork-bomb`.',
    level: levelOfForkLoop,
  }),
  ...reportEndlessCycles(context, ({ kind }) => kind === 'generations', {
    what: 'a worker cannot end without forking one like itself',
    hint: 'Give it a path to its <result> that forks nothing; `max_visits` does not help, because each worker counts for itself.',
    level: levelOfCycle,
  }),
]);

/** A dispatcher that waits between its forks, or forks only if there is work, may be meant to run until it is stopped. */
const levelOfForkLoop = (cycle: EndlessCycle, context: RuleContext): LintLevel =>
  waits(cycle, context) || canGoRoundWithoutFork(cycle, context) ? 'warning' : levelOfCycle(cycle, context);

const WAITING_COMMAND = /(?:^|[\s;&|(])(?:sleep|wait|inotifywait|fswatch|timeout|Start-Sleep)(?=[\s;&|)]|$)/im;

/** True if a script of the loop waits, or the loop leads through a join or a question. */
function waits(cycle: EndlessCycle, context: RuleContext): boolean {
  const names = new Set(namesOf(cycle, context));
  const isWaitingScript = (name: string): boolean => {
    const analysis = context.analysisOf.get(name);
    return analysis?.kind === 'script' && WAITING_COMMAND.test(analysis.source.state.text);
  };
  return (
    [...names].some(isWaitingScript) ||
    context.graph.edges.some(({ from, tag }) => names.has(from) && (tag === 'join' || tag === 'ask'))
  );
}

/** True if an agent can go round the loop on a way that forks nothing. */
function canGoRoundWithoutFork(cycle: EndlessCycle, context: RuleContext): boolean {
  const { graph, proof } = context;
  const next = (state: number): readonly number[] =>
    graph.edges
      .filter(({ from, tag }) => from === proof.flow.names[state] && !startsWorkers(tag))
      .flatMap((edge) => targetsOf(edge).flatMap(filesOf))
      .map((file) => proof.flow.numberOf(file));
  return hasCycle(cycle.states, next);
}

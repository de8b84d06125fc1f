import type { EndlessCycle } from '../../graph/endless-cycles.ts';
import { filesOf, targetsOf } from '../../graph/graph.ts';
import { hasCycle } from '../../graph/strongly-connected.ts';
import { startsWorkers } from '../../language/transitions/index.ts';
import { levelOfCycle, namesOf, reportEndlessCycles } from '../cycle-findings.ts';
import { defineRule, type LintLevel, type RuleContext } from '../rule.ts';

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

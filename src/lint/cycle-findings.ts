import type { EndlessCycle } from '../graph/endless-cycles.ts';
import { WHOLE_FILE } from '../language/text/text.ts';
import { collapseAnyState, formatStepPath } from './messages.ts';
import type { LintLevel, RuleContext, RuleFinding } from './rule.ts';

/** The rules about workflows that never end: a mistake that hides a way out of a state supersedes them. */
export const CYCLE_RULES = [
  'endless-loop',
  'endless-recursion',
  'ends-only-by-limit',
  'fork-bomb',
  'never-returns',
] as const;

/** The message of a rule about a cycle. */
interface CycleMessages {
  /** The beginning of the message; one round follows. */
  readonly what: string;
  readonly hint: string;
  readonly level: (cycle: EndlessCycle, context: RuleContext) => LintLevel;
}

/** Reports each cycle of a kind once, at the place where it is entered. */
export function reportEndlessCycles(
  context: RuleContext,
  isSelected: (cycle: EndlessCycle) => boolean,
  messages: CycleMessages,
): readonly RuleFinding[] {
  return context.proof.endless.filter(isSelected).flatMap((cycle) => {
    const round = collapseAnyState(cycle.round);
    const [first] = round;
    if (first === undefined) return [];
    const way = cycle.path.length > 0 ? `; it begins with ${formatStepPath(cycle.path, first.from)}` : '';
    const message = `${messages.what}: ${formatStepPath(round, first.from)}${formatOtherStates(cycle, context)}${way}`;
    const path = [...collapseAnyState(cycle.path), ...round];
    return [
      {
        file: first.from,
        at: first.at ?? WHOLE_FILE,
        message,
        hint: messages.hint,
        level: messages.level(cycle, context),
        path,
        causes: namesOf(cycle, context),
      },
    ];
  });
}

/** Lists the names of the states of a cycle. */
export const namesOf = ({ states }: EndlessCycle, { proof }: RuleContext): readonly string[] =>
  states.map((state) => proof.flow.names[state] ?? '');

/** Names the states of a cycle that the round does not show. */
function formatOtherStates(cycle: EndlessCycle, context: RuleContext): string {
  const shown = new Set(cycle.round.map(({ from }) => from));
  const nodes = new Set(context.graph.nodes.map(({ state }) => state));
  const others = namesOf(cycle, context).filter((name) => nodes.has(name) && !shown.has(name));
  const [first, second] = others;
  if (first === undefined) return '';
  if (second === undefined) return `, and ${first}, which it also leads to, never reaches a <result> either`;
  const named = others.length > MAX_NAMED ? `${others.length} other states` : others.sort().join(', ');
  return `, and ${named}, which it also leads to, never reach a <result> either`;
}

const MAX_NAMED = 4;

/** Picks the level of a cycle: an error if policies and scripts decide; a prompt without policy may do something else. */
export function levelOfCycle(cycle: EndlessCycle, context: RuleContext): LintLevel {
  const certain = namesOf(cycle, context).every((state) => {
    const analysis = context.analysisOf.get(state);
    return analysis?.kind === 'script' || (analysis?.source.state.rules.policy.length ?? 0) > 0;
  });
  return certain ? 'error' : 'warning';
}

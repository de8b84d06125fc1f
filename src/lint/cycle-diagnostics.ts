import { WHOLE_FILE } from '../core/text-position.ts';
import type { EndlessCycle } from '../graph/endless-cycles.ts';
import { collapseAnyState, formatStepPath } from './messages.ts';
import type { Diagnostic, LintLevel, RuleContext } from './rule.ts';
import { isCycleSuppressed } from './suppression.ts';

/** What a rule says about a ring. */
interface CycleMessages {
  /** The beginning of the message; one round follows. */
  readonly what: string;
  readonly hint: string;
  readonly level: (cycle: EndlessCycle, context: RuleContext) => LintLevel;
}

/** One fault for each ring of a kind, at the place where it is entered upon. */
export function reportEndlessCycles(
  context: RuleContext,
  isSelected: (cycle: EndlessCycle) => boolean,
  messages: CycleMessages,
): readonly Diagnostic[] {
  const cycles = context.proof.endless.filter((cycle) => isSelected(cycle) && !isCycleSuppressed(cycle, context));
  return cycles.flatMap((cycle) => {
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
      },
    ];
  });
}

/** The states that are no better off and that the round does not show. */
function formatOtherStates({ states, round }: EndlessCycle, { graph, proof }: RuleContext): string {
  const shown = new Set(round.map(({ from }) => from));
  const nodes = new Set(graph.nodes.map(({ state }) => state));
  const others = states
    .map((state) => proof.flow.names[state] ?? '')
    .filter((name) => nodes.has(name) && !shown.has(name));
  const [first, second] = others;
  if (first === undefined) return '';
  if (second === undefined) return `, and ${first}, where it leads too, comes to no <result> either`;
  const named = others.length > MAX_NAMED ? `${others.length} other states` : others.sort().join(', ');
  return `, and ${named}, where it leads too, come to no <result> either`;
}

const MAX_NAMED = 4;

/** Certain if policies and scripts decide; a prompt without policy may still do something else. */
export function levelOfCycle({ states }: EndlessCycle, { proof, analysisOf }: RuleContext): LintLevel {
  const certain = states.every((state) => {
    const analysis = analysisOf.get(proof.flow.names[state] ?? '');
    return analysis?.kind === 'script' || (analysis?.source.state.rules.policy.length ?? 0) > 0;
  });
  return certain ? 'error' : 'warning';
}

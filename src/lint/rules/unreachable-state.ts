import { WHOLE_FILE } from '../../core/text-position.ts';
import { defineRule, type RuleContext } from '../rule.ts';
import { findUnreachedStates } from '../unreached-states.ts';

/** Nothing leads to a state. */
export const unreachableState = defineRule({ id: 'unreachable-state', level: 'warning' }, (context) => {
  const { workflow, graph } = context;
  if (graph.entry === null) return [];
  return findUnreachedStates(context).map(({ state, behind, namedIn }) => {
    const message = `nothing leads to ${state} from ${graph.entry}${describeBehind(behind)}`;
    const hint = 'Name it in a tag or in the `allowed_transitions` of a state that is reached, or remove the file.';
    const level = workflow.entryGiven || isNote(state, context) ? 'info' : 'warning';
    return { file: state, at: WHOLE_FILE, message, hint, level, causes: namedIn };
  });
});

/** Names of files that people keep beside a workflow. */
const NOTES =
  /^(?:changelog|changes|history|contributing|notes?|todo|licen[cs]e|copying|authors|security|code_of_conduct)\.md$/i;

function isNote(state: string, { analysisOf, isIntendedState }: RuleContext): boolean {
  const analysis = analysisOf.get(state);
  return NOTES.test(state) && analysis !== undefined && !isIntendedState(analysis);
}

function describeBehind(states: readonly string[]): string {
  const [first, second] = states;
  if (first === undefined) return '';
  return second === undefined ? `, nor to ${first} behind it` : `, nor to the ${states.length} states behind it`;
}

import { WHOLE_FILE } from '../../core/text-position.ts';
import type { Rule, RuleContext } from '../rule.ts';
import { findUnreachedStates } from '../unreached-states.ts';

/** Nothing leads to a state. */
export const unreachableState: Rule = {
  id: 'unreachable-state',
  level: 'warning',
  check(context) {
    const { workflow, graph } = context;
    if (graph.entry === null) return [];
    const unreached = findUnreachedStates(context);
    const examples = unreached.length === 0 ? new Map<string, string>() : findExamples(context);
    return unreached.map(({ state, behind }) => {
      const example = examples.get(state);
      const why = example === undefined ? '' : `; the code block in ${example} that names it is taken for an example`;
      const message = `nothing leads to ${state} from ${graph.entry}${describeBehind(behind)}${why}`;
      const hint =
        example === undefined
          ? 'Name it in a tag or in the `allowed_transitions` of a state that is reached, or remove the file.'
          : `If ${example} is to lead there, write the tag outside of the code block; if not, remove the file.`;
      return {
        file: state,
        at: WHOLE_FILE,
        message,
        hint,
        level: workflow.entryGiven || isNote(state, context) ? 'info' : 'warning',
      };
    });
  },
};

/** What people put beside their files, unless a tag or a policy shows that it is a state. */
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

/** By state, a prompt that is free to say any tag and names it only in a code block, while it has other tags. */
function findExamples({ analyses, names, proof }: RuleContext): ReadonlyMap<string, string> {
  const examples = new Map<string, string>();
  for (const { file, quoted, source } of analyses) {
    if (source.state.rules.policy.length > 0 || !proof.reachIfCallsReturn.has(proof.flow.numberOf(file))) continue;
    for (const { tag } of quoted) {
      for (const name of [tag.body, tag.attributes.return, tag.attributes.next]) {
        const found = name === undefined ? undefined : names.resolve(name.trim());
        if (found?.kind === 'found' && !examples.has(found.file)) examples.set(found.file, file);
      }
    }
  }
  return examples;
}

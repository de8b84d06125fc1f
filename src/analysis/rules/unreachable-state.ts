import type { Rule, View } from '../rule.ts';
import { WHOLE } from '../sheet.ts';
import { unreachedIn } from '../unreached.ts';

/** Nothing leads to a state. */
export const unreachableState: Rule = {
  id: 'unreachable-state',
  level: 'warning',
  check(view) {
    const { sheet, graph } = view;
    if (graph.entry === null) return [];
    const unreached = unreachedIn(view);
    const examples = unreached.length === 0 ? new Map<string, string>() : examplesIn(view);
    return unreached.map(({ state, behind }) => {
      const shown = examples.get(state);
      const why = shown === undefined ? '' : `; the code block in ${shown} that names it is taken for an example`;
      const message = `nothing leads to ${state} from ${graph.entry}${andBehind(behind)}${why}`;
      const hint =
        shown === undefined
          ? 'Name it in a tag or in the `allowed_transitions` of a state that is reached, or remove the file.'
          : `If ${shown} is to lead there, write the tag outside of the code block; if not, remove the file.`;
      return {
        file: state,
        at: WHOLE,
        message,
        hint,
        level: sheet.entryGiven || isNote(state, view) ? 'info' : 'warning',
      };
    });
  },
};

/** What people put beside their files, unless a tag or a policy shows that it is a state. */
const NOTES =
  /^(?:changelog|changes|history|contributing|notes?|todo|licen[cs]e|copying|authors|security|code_of_conduct)\.md$/i;

function isNote(state: string, { pageOf, isMeant }: View): boolean {
  const page = pageOf.get(state);
  return NOTES.test(state) && page !== undefined && !isMeant(page);
}

function andBehind(states: readonly string[]): string {
  const [first, second] = states;
  if (first === undefined) return '';
  return second === undefined ? `, nor to ${first} behind it` : `, nor to the ${states.length} states behind it`;
}

/** By state, a prompt that is free to say any tag and names it only in a code block, while it has other tags. */
function examplesIn({ pages, names, proof }: View): ReadonlyMap<string, string> {
  const examples = new Map<string, string>();
  for (const { file, quoted, source } of pages) {
    if (source.state.rules.policy.length > 0 || !proof.mentioned.has(proof.flow.numberOf(file))) continue;
    for (const { tag } of quoted) {
      for (const name of [tag.body, tag.attributes.return, tag.attributes.next]) {
        const found = name === undefined ? undefined : names.resolve(name.trim());
        if (found?.kind === 'found' && !examples.has(found.file)) examples.set(found.file, file);
      }
    }
  }
  return examples;
}

import type { Page } from '../page.ts';
import type { Rule, View } from '../rule.ts';
import { WHOLE } from '../sheet.ts';

/** Nothing leads to a state. */
export const unreachableState: Rule = {
  id: 'unreachable-state',
  level: 'warning',
  check(view) {
    const { sheet, graph, proof, pages } = view;
    if (graph.entry === null) return [];
    const isReached = (state: string): boolean => proof.mentioned.has(proof.flow.numberOf(state));
    return graph.nodes.flatMap(({ state, kind }) => {
      if (kind === 'missing' || isReached(state)) return [];
      const shown = pages.find((page) => isReached(page.file) && isExampleIn(page, state, view));
      const why = shown === undefined ? '' : `; the code block in ${shown.file} that names it is taken for an example`;
      const message = `nothing leads to ${state} from ${graph.entry}${why}`;
      const hint =
        shown === undefined
          ? 'Name it in a tag or in the `allowed_transitions` of a state that is reached, or remove the file.'
          : `If ${shown.file} is to lead there, write the tag outside of the code block; if not, remove the file.`;
      return [{ file: state, at: WHOLE, message, hint, level: sheet.entryGiven ? 'info' : 'warning' }];
    });
  },
};

/** Whether a prompt that is free to say any tag names a state only in a code block, while it has other tags. */
function isExampleIn({ quoted, source }: Page, state: string, { names }: View): boolean {
  if (source.state.rules.policy.length > 0) return false;
  return quoted.some(({ tag }) => {
    const { return: back, next } = tag.attributes;
    return [tag.body, back, next].some((name) => {
      const found = name === undefined ? undefined : names.resolve(name.trim());
      return found?.kind === 'found' && found.file === state;
    });
  });
}

import type { Rule } from '../rule.ts';
import { findHandedOver, usesIn } from '../variables.ts';

/** A `{{result}}` in a state that nothing is ever handed to. */
export const undefinedResult: Rule = {
  id: 'undefined-result',
  level: 'warning',
  check(view) {
    const handedOver = findHandedOver(view.proof);
    return view.pages.flatMap((page) => {
      const reached = view.isReached(page.file) && !handedOver.has(view.proof.flow.numberOf(page.file));
      if (page.kind !== 'prompt' || page.broken || !reached) return [];
      const use = usesIn(page.source.state.text).find(({ name }) => name === 'result' || name === 'input');
      if (use === undefined) return [];
      const message = `nothing hands a {{${use.name}}} to ${page.file}: no call returns here, and no tag that leads here has an \`input\``;
      const hint = 'A result lives for one state: hand it on with `input="…"`, or write it into a file.';
      return [{ file: page.file, at: page.place(use.offset), message, hint }];
    });
  },
};

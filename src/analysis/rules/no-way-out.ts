import type { Page } from '../page.ts';
import type { Fault, Rule } from '../rule.ts';

/** A state shows no transition at all. */
export const noWayOut: Rule = {
  id: 'no-way-out',
  level: 'warning',
  check(view) {
    const left = new Set(view.graph.edges.filter(({ origin }) => origin !== 'guess').map(({ from }) => from));
    const stuck = view.pages.filter((page) => view.isMeant(page) && !page.open && !left.has(page.file));
    // That a prompt is empty is told by another rule.
    return stuck.filter(({ kind, source }) => kind === 'script' || source.state.text.trim() !== '').map(faultOf);
  },
};

function faultOf({ file, kind, place }: Page): Fault {
  const at = place(0);
  if (kind === 'script') {
    const hint = 'Print one tag on every way through, such as <result>done</result>.';
    return { file, at, message: `there is no way out of ${file}: the script prints no tag`, hint, level: 'error' };
  }
  const message = `there is no way out of ${file}: the prompt names no tag to answer with, and it has no \`allowed_transitions\``;
  return { file, at, message, hint: 'Say in the prompt which tag to answer with, or give it `allowed_transitions`.' };
}

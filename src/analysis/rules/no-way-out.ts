import { nearest } from '../../core/nearest.ts';
import type { Page } from '../page.ts';
import { type Fault, isTold, type Rule } from '../rule.ts';
import { strayFrontmatterIn } from '../stray-frontmatter.ts';

/** A state shows no transition at all. */
export const noWayOut: Rule = {
  id: 'no-way-out',
  level: 'warning',
  check(view) {
    const left = new Set(view.graph.edges.filter(({ origin }) => origin !== 'guess').map(({ from }) => from));
    const stuck = view.pages.filter((page) => view.isMeant(page) && !page.open && !left.has(page.file));
    // That a prompt is empty is told by another rule, and so is why what it says leads nowhere.
    return stuck
      .filter(({ kind, source }) => kind === 'script' || source.state.text.trim() !== '')
      .filter((page) => !isTold(view, page.file, 'unknown-tag') && !hasLostPolicy(page))
      .map(faultOf);
  },
};

const POLICY = 'allowed_transitions';

/** Whether the transitions stand under a key that is misspelt, or where no frontmatter can be. */
const hasLostPolicy = (page: Page): boolean =>
  Object.keys(page.source.keys).some((key) => key !== POLICY && nearest(key, [POLICY]) !== undefined) ||
  (page.kind === 'prompt' && strayFrontmatterIn(page)?.hasPolicy === true);

function faultOf({ file, kind, place, source }: Page): Fault {
  const at = place(0);
  if (kind === 'script') {
    const hint = 'Print one tag on every way through, such as <result>done</result>.';
    return { file, at, message: `there is no way out of ${file}: the script prints no tag`, hint, level: 'error' };
  }
  const why =
    source.keys[POLICY] === undefined ? 'it has no `allowed_transitions`' : 'its `allowed_transitions` are empty';
  const message = `there is no way out of ${file}: the prompt names no tag to answer with, and ${why}`;
  return { file, at, message, hint: 'Say in the prompt which tag to answer with, or give it `allowed_transitions`.' };
}

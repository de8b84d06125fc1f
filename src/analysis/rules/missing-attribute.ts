import { TRANSITIONS } from '../../core/transitions/index.ts';
import { levelOf } from '../bad-names.ts';
import { waysOn } from '../edges.ts';
import { rulePerPage } from '../rule.ts';
import { showTag } from '../words.ts';

/** A call does not say where it returns to, or a fork not where its parent goes on. */
export const missingAttribute = rulePerPage('missing-attribute', 'error', (page) => {
  const goesOn = waysOn(page.tags).length > 0;
  return page.tags.flatMap(({ name, tag, at, sure }) => {
    const missing = TRANSITIONS[name].required.filter((key) => (tag.attributes[key] ?? '').trim() === '');
    return missing.flatMap((key) => {
      if (!sure || (key === 'next' && goesOn)) return [];
      const hint =
        key === 'return'
          ? `Add \`return="STATE"\` with the state that is to get the result.`
          : `Add \`next="STATE"\` with the state in which the parent goes on, or put one <goto> beside the forks.`;
      const message = `${showTag(name, tag)}: \`${key}="STATE"\` is missing`;
      return [{ file: page.file, at, message, hint, level: levelOf(page) }];
    });
  });
});

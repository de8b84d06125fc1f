import { OWN_ATTRIBUTES } from '../../core/tag.ts';
import { TAG_NAMES, TRANSITIONS } from '../../core/transitions/index.ts';
import { levelOf } from '../bad-names.ts';
import { exchangedIn } from '../exchanged.ts';
import { rulePerPage } from '../rule.ts';
import { showTag } from '../words.ts';

/** An attribute of the language stands on a tag that does not take it, such as `cd` on a goto. */
export const misplacedAttribute = rulePerPage('misplaced-attribute', 'error', (page) =>
  page.tags.flatMap(({ name, tag, at, sure }) => {
    const taken: readonly string[] = TRANSITIONS[name].attributes;
    const misplaced = OWN_ATTRIBUTES.filter((key) => Object.hasOwn(tag.attributes, key) && !taken.includes(key));
    if (!sure) return [];
    return misplaced.map((key) => {
      const takers = TAG_NAMES.filter((each) => (TRANSITIONS[each].attributes as readonly string[]).includes(key));
      const message = `${showTag(name, tag)}: \`${key}\` has no meaning on <${name}>`;
      const exchanged = exchangedIn({ name, tag });
      const hint =
        exchanged?.wrong === key
          ? `Write \`${exchanged.right}="${exchanged.state}"\` instead.`
          : `Remove it, or use a tag that takes it: ${takers.map((each) => `<${each}>`).join(' or ')}.`;
      return { file: page.file, at, message, hint, level: levelOf(page) };
    });
  }),
);

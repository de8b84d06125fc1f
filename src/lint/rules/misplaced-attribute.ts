import { BUILT_IN_ATTRIBUTES } from '../../core/tag.ts';
import { TAG_NAMES, TRANSITIONS } from '../../core/transitions/index.ts';
import { quoteTag } from '../messages.ts';
import { defineStateRule } from '../rule.ts';
import { findSwappedAttribute } from '../swapped-attributes.ts';
import { levelForTag } from '../unresolved-names.ts';

/** An attribute of the language stands on a tag that does not take it, such as `cd` on a goto. */
export const misplacedAttribute = defineStateRule(
  { id: 'misplaced-attribute', level: 'error', supersedes: ['unreachable-state'] },
  (analysis) =>
    analysis.tags.flatMap(({ name, tag, at, sure }) => {
      const accepted: readonly string[] = TRANSITIONS[name].attributes;
      const misplaced = BUILT_IN_ATTRIBUTES.filter(
        (key) => Object.hasOwn(tag.attributes, key) && !accepted.includes(key),
      );
      if (!sure) return [];
      return misplaced.map((key) => {
        const acceptingTags = TAG_NAMES.filter((each) =>
          (TRANSITIONS[each].attributes as readonly string[]).includes(key),
        );
        const message = `${quoteTag(name, tag)}: \`${key}\` has no meaning on <${name}>`;
        const exchanged = findSwappedAttribute({ name, tag });
        const hint =
          exchanged?.wrong === key
            ? `Write \`${exchanged.right}="${exchanged.state}"\` instead.`
            : `Remove it, or use a tag that takes it: ${acceptingTags.map((each) => `<${each}>`).join(' or ')}.`;
        return { at, message, hint, level: levelForTag(analysis) };
      });
    }),
);

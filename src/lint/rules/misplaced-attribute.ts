import { BUILT_IN_ATTRIBUTES } from '../../language/tags/tag.ts';
import { isWorkflowTag, TAG_NAMES, takesAttribute } from '../../language/transitions/index.ts';
import { defineTagRule } from '../rule.ts';
import { findSwappedAttribute } from './missing-attribute.ts';

/** An attribute of the language stands on a tag that does not take it, such as `cd` on a goto. */
export const misplacedAttribute = defineTagRule(
  { id: 'misplaced-attribute', level: 'error', supersedes: ['unreachable-state'] },
  ({ name, tag }) => {
    const misplaced = BUILT_IN_ATTRIBUTES.filter(
      (key) => Object.hasOwn(tag.attributes, key) && !takesAttribute(name, key),
    );
    return misplaced.map((key) => {
      const swapped = findSwappedAttribute(name, tag);
      const others = TAG_NAMES.filter(
        (each) => takesAttribute(each, key) && isWorkflowTag(each) === isWorkflowTag(name),
      ).map((each) => `<${each}>`);
      const hint =
        swapped?.wrong === key
          ? `Write \`${swapped.right}="${swapped.state}"\` instead.`
          : `Remove it, or use a tag that takes it: ${others.join(' or ')}.`;
      return { message: `\`${key}\` has no meaning on <${name}>`, hint };
    });
  },
);

import { isBuiltInAttribute } from '../../language/tags/tag.ts';
import { hasUnknownPart, UNKNOWN } from '../../language/tags/tag-mentions.ts';
import { isAttributeWord, TRANSITIONS, takesAttribute } from '../../language/transitions/index.ts';
import type { Transition } from '../../language/transitions/transition.ts';
import { variableNameProblem } from '../../language/variable-names.ts';
import { NO_TEMPLATE_HINT } from '../messages.ts';
import { defineTagRule } from '../rule.ts';

/** An attribute has a value that it cannot have, or a name that no variable can have. */
export const badAttribute = defineTagRule(
  { id: 'bad-attribute', level: 'error' },
  ({ name, tag }, { kind }, { workflow }) => {
    const { variables, findProblem }: Transition = TRANSITIONS[name];
    // Values known only at run time are not judged.
    const isKnown = !Object.values(tag.attributes).some(hasUnknownPart);
    const ownProblem = isKnown ? findProblem?.({ attributes: tag.attributes, body: tag.body || '…' }) : undefined;
    const isTwice = tag.attributes.cd !== undefined && isAttributeWord(name, 'worktree', tag.attributes.worktree);
    const twofold = isTwice
      ? [
          {
            message: '`cd` and `worktree` exclude each other',
            hint: 'Leave one out: a worktree is a folder of its own.',
          },
        ]
      : [];
    const own =
      ownProblem === undefined ? [] : [{ message: ownProblem, hint: 'Correct it: no answer with it is followed.' }];
    const ofAttributes = Object.entries(tag.attributes).flatMap(([key, value]) => {
      if (!isBuiltInAttribute(name, key)) {
        const message = variables && !key.includes(UNKNOWN) ? variableNameProblem(key, workflow.platform) : undefined;
        return message === undefined ? [] : [{ message, hint: 'Rename it here and where it is used.' }];
      }
      if (!takesAttribute(name, key)) return [];
      if (key === 'cd' && kind === 'script' && value.includes('{{') && !value.includes(UNKNOWN)) {
        return [{ message: `there is no folder \`${value}\``, hint: NO_TEMPLATE_HINT }];
      }
      if (hasUnknownPart(value)) return [];
      if (key === 'stack' && value !== 'clear' && value !== 'keep') {
        const message = `\`stack\` can be "clear" or "keep", not "${value}"`;
        return [{ message, hint: 'Write one of them, or leave it out.' }];
      }
      const isEmpty = NEVER_EMPTY.includes(key) && value.trim() === '';
      return isEmpty ? [{ message: `\`${key}\` is empty`, hint: 'Give it a value, or leave it out.' }] : [];
    });
    return [...own, ...twofold, ...ofAttributes];
  },
);

const NEVER_EMPTY = ['model', 'effort'];

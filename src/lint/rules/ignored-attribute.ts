import { isBuiltInAttribute } from '../../language/tags/tag.ts';
import { UNKNOWN } from '../../language/tags/tag-mentions.ts';
import { didYouMean } from '../../language/text/nearest.ts';
import { isAttributeWord, TRANSITIONS } from '../../language/transitions/index.ts';
import { defineTagRule } from '../rule.ts';
import { findMisspeltAttribute } from './missing-attribute.ts';

/** An attribute has no effect: it is a variable on another tag than a fork, or given twice; or it makes no worktree. */
export const ignoredAttribute = defineTagRule(
  { id: 'ignored-attribute', level: 'warning' },
  ({ name, tag }, { names }) => {
    const { variables, attributes, required, body } = TRANSITIONS[name];
    // An attribute that is misspelt, or has the state that is not between the tags, is reported by other rules.
    const isReportedElsewhere = (key: string): boolean =>
      required.some((each) => findMisspeltAttribute(each, tag) === key) ||
      (body === 'state' &&
        names.fileOf(tag.body) === undefined &&
        names.fileOf(tag.attributes[key] ?? '') !== undefined);
    const ignored = Object.keys(tag.attributes).filter(
      (key) =>
        !variables &&
        !isBuiltInAttribute(name, key) &&
        !isAttributeWord(name, key, tag.attributes[key]) &&
        !key.includes(UNKNOWN) &&
        !isReportedElsewhere(key),
    );
    const { worktree } = tag.attributes;
    const isMeant = variables && worktree !== undefined && worktree !== 'auto' && MEANT_AS_AUTO.test(worktree);
    return [
      ...(isMeant
        ? [{ message: `\`worktree="${worktree}"\` makes no worktree: it is a variable`, hint: WORKTREE_HINT }]
        : []),
      ...tag.repeated.map((key) => {
        return { message: `\`${key}\` is given more than once; the last one counts`, hint: 'Keep one of them.' };
      }),
      ...ignored.map((key) => ({
        message: `\`${key}\` means nothing on <${name}> and is ignored${didYouMean(key, attributes)}`,
        hint: 'Remove it: only a <fork> takes variables; the other tags pass `input`.',
      })),
    ];
  },
);

/** Words that somebody may write who wants a worktree; any other is a variable as every attribute of an author's own. */
const MEANT_AS_AUTO = /^(?:auto|true|yes|on|new|1|)$/i;

const WORKTREE_HINT = 'Write `worktree="auto"`, or rename the variable.';

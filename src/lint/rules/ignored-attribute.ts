import { didYouMean } from '../../core/nearest.ts';
import { isBuiltInAttribute } from '../../core/tag.ts';
import { UNKNOWN } from '../../core/tag-mentions.ts';
import { TRANSITIONS } from '../../core/transitions/index.ts';
import { quoteTag } from '../messages.ts';
import { defineStateRule } from '../rule.ts';
import { findMisspeltAttribute } from './missing-attribute.ts';

/** An attribute that has no effect: of one's own on another tag than a fork, or given twice. */
export const ignoredAttribute = defineStateRule({ id: 'ignored-attribute', level: 'warning' }, (analysis, { names }) =>
  analysis.tags.flatMap(({ name, tag, at, sure }) => {
    const { variables, attributes, required, body } = TRANSITIONS[name];
    // What should have been another attribute, or the name between the tags, is told by other rules.
    const isReportedElsewhere = (key: string): boolean =>
      required.some((each) => findMisspeltAttribute(each, tag) === key) ||
      (body === 'state' && tag.body === '' && names.resolve((tag.attributes[key] ?? '').trim()).kind === 'found');
    const ignored = Object.keys(tag.attributes).filter(
      (key) => !variables && !isBuiltInAttribute(key) && !isReportedElsewhere(key),
    );
    const shown = quoteTag(name, tag);
    if (!sure) return [];
    return [
      ...tag.repeated.map((key) => ({
        at,
        message: `${shown} gives \`${key}\` more than once; the last one counts`,
        hint: 'Keep one of them.',
      })),
      ...ignored
        .filter((key) => !key.includes(UNKNOWN))
        .map((key) => ({
          at,
          message: `${shown}: \`${key}\` means nothing on <${name}> and is ignored${didYouMean(key, attributes)}`,
          hint: 'Remove it; only a <fork> takes variables, the other tags hand over `input`.',
        })),
    ];
  }),
);

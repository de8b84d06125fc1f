import { didYouMean } from '../../core/nearest.ts';
import { OWN_ATTRIBUTES } from '../../core/tag.ts';
import { TRANSITIONS } from '../../core/transitions/index.ts';
import { UNKNOWN } from '../mentions.ts';
import { rulePerPage } from '../rule.ts';
import { showTag } from '../words.ts';
import { slipFor } from './missing-attribute.ts';

/** An attribute that has no effect: of one's own on another tag than a fork, or given twice. */
export const ignoredAttribute = rulePerPage('ignored-attribute', 'warning', (page, { names }) =>
  page.tags.flatMap(({ name, tag, at, sure }) => {
    const own: readonly string[] = OWN_ATTRIBUTES;
    const { variables, attributes, required, body } = TRANSITIONS[name];
    // What should have been another attribute, or the name between the tags, is told by other rules.
    const isTold = (key: string): boolean =>
      required.some((each) => slipFor(each, tag) === key) ||
      (body === 'state' && tag.body === '' && names.resolve((tag.attributes[key] ?? '').trim()).kind === 'found');
    const ignored = Object.keys(tag.attributes).filter((key) => !variables && !own.includes(key) && !isTold(key));
    const shown = showTag(name, tag);
    if (!sure) return [];
    return [
      ...tag.repeated.map((key) => ({
        file: page.file,
        at,
        message: `${shown} gives \`${key}\` more than once; the last one counts`,
        hint: 'Keep one of them.',
      })),
      ...ignored
        .filter((key) => !key.includes(UNKNOWN))
        .map((key) => ({
          file: page.file,
          at,
          message: `${shown}: \`${key}\` means nothing on <${name}> and is ignored${didYouMean(key, attributes)}`,
          hint: 'Remove it; only a <fork> takes variables, the other tags hand over `input`.',
        })),
    ];
  }),
);

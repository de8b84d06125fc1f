import { UNKNOWN } from '../../core/tag-mentions.ts';
import { quoteTag } from '../messages.ts';
import { defineStateRule } from '../rule.ts';

/** A script puts a value that it does not know between the quotes of an `input`: a quote in it breaks the tag. */
export const quoteInInput = defineStateRule({ id: 'quote-in-input', level: 'warning' }, ({ kind, expandedTags }) => {
  if (kind !== 'script') return [];
  const unsafe = expandedTags.filter(({ sure, tag }) => sure && tag.attributes.input?.includes(UNKNOWN));
  const byPosition = new Map(unsafe.map((placed) => [`${placed.at.line}:${placed.at.column}`, placed]));
  return [...byPosition.values()].map(({ name, tag, at }) => ({
    at,
    message: `${quoteTag(name, tag)}: a quote in the value of \`input\` would break the tag`,
    hint: 'Write the text to a file and name that: `input-file="PATH"`.',
  }));
});

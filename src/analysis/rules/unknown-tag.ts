import { blank, commentsOf, findRegions } from '../../core/markup.ts';
import { nearest } from '../../core/nearest.ts';
import { isTagName, TAG_NAMES } from '../../core/transitions/index.ts';
import { levelOf } from '../bad-names.ts';
import { rulePerPage } from '../rule.ts';

/** What looks like a tag and names a state, but is no tag of the language. */
export const unknownTag = rulePerPage('unknown-tag', 'error', (page, { names }) => {
  const { text: written } = page.source.state;
  const text = blank(written, commentsOf(written, findRegions(written)));
  return [...text.matchAll(/<([a-z_-]+)(\s[^<>]*)?>([^<>\n]*)<\/\1\s*>/gi)].flatMap(
    ({ index, 1: name = '', 3: body = '' }) => {
      const meant = isTagName(name.toLowerCase()) ? undefined : nearest(name, TAG_NAMES);
      if (meant === undefined || names.resolve(body.trim()).kind !== 'found') return [];
      const message = `\`<${name}>${body.trim()}</${name}>\` is no tag of the language (did you mean <${meant}>?)`;
      return [
        {
          file: page.file,
          at: page.place(index),
          message,
          hint: `Write <${meant}>${body.trim()}</${meant}>.`,
          level: levelOf(page),
        },
      ];
    },
  );
});

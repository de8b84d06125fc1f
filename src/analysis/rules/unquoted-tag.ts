import { TAG_NAMES } from '../../core/transitions/index.ts';
import { rulePerPage } from '../rule.ts';

const UNQUOTED = new RegExp(`^[ \\t]*(?:echo|printf)[ \\t]+(?:-\\w+[ \\t]+)*<(${TAG_NAMES.join('|')})\\b`, 'gim');

/** A shell script writes a tag without quotes, and bash takes `<` and `>` for redirections. */
export const unquotedTag = rulePerPage('unquoted-tag', 'error', (page) => {
  if (!page.file.endsWith('.sh')) return [];
  return [...page.source.state.text.matchAll(UNQUOTED)].map((found) => {
    const at = page.place(found.index + found[0].lastIndexOf('<'));
    const message = `the <${found[1]?.toLowerCase()}> has no quotes around it: bash takes its brackets for redirections`;
    return { file: page.file, at, message, hint: 'Put the whole tag in quotes.' };
  });
});

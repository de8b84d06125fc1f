import { TAG_WORDS } from '../../language/transitions/index.ts';
import { defineStateRule } from '../rule.ts';

const UNQUOTED = new RegExp(`^[ \\t]*(?:echo|printf)[ \\t]+(?:-\\w+[ \\t]+)*<(${TAG_WORDS.join('|')})\\b`, 'gim');

/** A shell script prints a tag without quotes, and bash treats `<` and `>` as redirections. */
export const unquotedTag = defineStateRule(
  { id: 'unquoted-tag', level: 'error', supersedes: ['bash-syntax', 'unreachable-state'] },
  (analysis) => {
    if (!analysis.file.endsWith('.sh')) return [];
    return [...analysis.source.state.text.matchAll(UNQUOTED)].map((found) => {
      const at = analysis.positionAt(found.index + found[0].lastIndexOf('<'));
      const message = `the <${found[1]?.toLowerCase()}> has no quotes around it: bash treats its brackets as redirections`;
      return { at, message, hint: 'Put the whole tag in quotes.' };
    });
  },
);

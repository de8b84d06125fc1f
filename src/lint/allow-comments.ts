import type { StateAnalysis } from '../graph/state-analysis.ts';
import type { TextPosition } from '../language/text/text.ts';

/** A rule whose findings the author of a file accepts there: `# lint: allow endless-loop`. */
export interface AllowComment {
  /** As it is written; empty if no rule is named. */
  readonly rule: string;
  readonly at: TextPosition;
}

const COMMENT = /^[ \t]*(?:#|::|rem[ \t])[ \t]*lint:[ \t]*allow(?![\w-])([^\r\n]*)/gim;

/** Finds the `lint: allow` comments of a script, or of a prompt's frontmatter: a comment below that is sent to Claude Code. */
export function findAllowComments({ kind, source, positionAt }: StateAnalysis): readonly AllowComment[] {
  const { text, state } = source;
  const begin = text.length - state.text.length;
  const comments = kind === 'script' ? state.text : text.slice(0, begin);
  return [...comments.matchAll(COMMENT)].flatMap(({ index, 0: whole, 1: rules = '' }) => {
    const offset = index - (kind === 'script' ? 0 : begin);
    const named = [...rules.matchAll(/[^\s,]+/g)].map((found) => {
      return { rule: found[0], at: positionAt(offset + whole.length - rules.length + found.index) };
    });
    return named.length > 0 ? named : [{ rule: '', at: positionAt(offset + whole.search(/\S/)) }];
  });
}

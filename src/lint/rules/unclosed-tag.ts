import type { TextPosition } from '../../core/text-position.ts';
import { TRANSITIONS } from '../../core/transitions/index.ts';
import type { StateAnalysis } from '../../graph/state-analysis.ts';
import { CYCLE_RULES } from '../cycle-findings.ts';
import { defineStateRule, type StateFinding } from '../rule.ts';
import { levelForTag } from '../tag-rule.ts';

/** A tag that names a state is never closed. An opening tag in a sentence about tags is not a mistake. */
export const unclosedTag = defineStateRule(
  { id: 'unclosed-tag', level: 'error', supersedes: ['unreachable-state', ...CYCLE_RULES] },
  (analysis, { names }) => [
    ...checkUnclosedResult(analysis),
    ...analysis.unclosedTags.flatMap(({ name, after: state, at, sure }) => {
      const isTag = TRANSITIONS[name].body === 'state' && state !== '' && names.resolve(state).kind === 'found';
      // A script may print the end of a tag by itself.
      const endsElsewhere = analysis.kind === 'script' && hasLoneClosingTag(name, analysis);
      if (!sure || !isTag || endsElsewhere) return [];
      if (analysis.kind === 'prompt' && hasOpenQuote(name, at, analysis)) {
        const message = `a quote in the attributes of this \`<${name}>\` is never closed`;
        return [{ at, message, hint: 'Close it after the value.', level: levelForTag(analysis) }];
      }
      const message = `the \`<${name}>${state}\` has no \`</${name}>\``;
      return [{ at, message, hint: `Write <${name}>${state}</${name}>.`, level: levelForTag(analysis) }];
    }),
  ],
);

/** Checks for a line that closes a tag and does not open it. */
function hasLoneClosingTag(name: string, { source }: StateAnalysis): boolean {
  const lines = source.state.text.toLowerCase().split('\n');
  return lines.some((line) => line.includes(`</${name}`) && !line.includes(`<${name}`));
}

/** Reports a result of a prompt that is opened and not closed, if it is the only tag or another tag was meant to close it. */
function checkUnclosedResult(analysis: StateAnalysis): readonly StateFinding[] {
  const { policy } = analysis.source.state.rules;
  if (analysis.kind !== 'prompt' || (policy.length > 0 && !policy.some(({ tag }) => tag === 'result'))) return [];
  const hasOtherTag = [...analysis.tags, ...analysis.tagsInCode].some(
    ({ name }) => policy.length === 0 || name === 'result',
  );
  return analysis.unclosedTags.flatMap(({ name, at }) => {
    const [begun, next = ''] = UNCLOSED_RESULT.exec(restOfLine(at, analysis)) ?? [];
    if (name !== 'result' || begun === undefined) return [];
    const column = at.column + begun.length - next.length;
    const isNextTag = analysis.tags.some((tag) => tag.at.line === at.line && tag.at.column === column);
    const end = isNextTag ? '' : next;
    if (end === '' && hasOtherTag) return [];
    const instead = end === '' ? '' : `: \`${end}\` does not close it`;
    const message = `the \`<result>\` has no \`</result>\`${instead}`;
    return [{ at, message, hint: 'Write <result>…</result>.', level: 'warning' }];
  });
}

/** A result with a text, up to the next tag if that may have been meant to close it. */
const UNCLOSED_RESULT = /^<result\b[^<>]*>[\p{L}\p{N}{][^<>]*(<result>|<\/[a-z]+>|)/iu;

/** Checks for an odd number of quotes between the name of a tag and its `>`. */
function hasOpenQuote(name: string, at: TextPosition, analysis: StateAnalysis): boolean {
  const [attributes = ''] = restOfLine(at, analysis)
    .slice(name.length + 1)
    .split('>', 1);
  return attributes.includes('=') && ['"', "'"].some((quote) => attributes.split(quote).length % 2 === 0);
}

/** Returns the rest of the line from a position on. */
const restOfLine = ({ line, column }: TextPosition, { source }: StateAnalysis): string =>
  source.text.split('\n')[line - 1]?.slice(column - 1) ?? '';

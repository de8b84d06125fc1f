import type { StateAnalysis } from '../../graph/state-analysis.ts';
import type { TextPosition } from '../../language/text/text.ts';
import { TRANSITIONS } from '../../language/transitions/index.ts';
import { CYCLE_RULES } from '../cycle-findings.ts';
import { defineStateRule, levelForTag, type RuleFinding } from '../rule.ts';

/** A tag that names a state is never closed. An opening tag in a sentence about tags is not a mistake. */
export const unclosedTag = defineStateRule(
  { id: 'unclosed-tag', level: 'error', supersedes: ['unreachable-state', ...CYCLE_RULES] },
  (analysis) => [
    ...findUnclosedPrint(analysis),
    ...analysis.unclosedTags.flatMap(({ name, after: state, at, sure }) => {
      const [attribute, named = ''] = (sure && NAME_IN_ATTRIBUTE.exec(openingTag(at, analysis))) || [];
      if (
        attribute !== undefined &&
        TRANSITIONS[name].body === 'state' &&
        analysis.names.resolve(named).kind === 'found'
      ) {
        const message = `this \`<${name}>\` has its state in an attribute (\`${attribute}\`), where it has no effect`;
        return [{ at, message, hint: `Write <${name}>${named}</${name}>.`, level: levelForTag(analysis) }];
      }
      const isTag =
        TRANSITIONS[name].body === 'state' && state !== '' && analysis.names.resolve(state).kind === 'found';
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

/** Finds a `<print>` of a script that has no end anywhere in it. In a prompt it may be talk about the tag. */
function findUnclosedPrint({ kind, source, positionAt }: StateAnalysis): readonly Omit<RuleFinding, 'file'>[] {
  if (kind !== 'script') return [];
  const code = source.state.text.replace(/^[ \t]*#.*$/gm, (comment) => ' '.repeat(comment.length));
  const start = code.search(/<print[\s>]/i);
  if (start === -1 || /<\/print\s*>/i.test(code)) return [];
  const message = 'the `<print>` has no `</print>`, so nothing is shown';
  return [{ at: positionAt(start), message, hint: 'Write <print>…</print>.', level: 'warning' }];
}

/** The name of a state where other languages have it. */
const NAME_IN_ATTRIBUTE = /\b(?:target|state|to)=["']([^"'<>]+)["']/i;

/** Returns what is between the beginning of a tag and its `>`. */
const openingTag = (at: TextPosition, analysis: StateAnalysis): string =>
  restOfLine(at, analysis).split('>', 1)[0] ?? '';

/** Checks for a line that closes a tag and does not open it. */
function hasLoneClosingTag(name: string, { source }: StateAnalysis): boolean {
  const lines = source.state.text.toLowerCase().split('\n');
  return lines.some((line) => line.includes(`</${name}`) && !line.includes(`<${name}`));
}

/** Checks for an odd number of quotes between the name of a tag and its `>`. */
function hasOpenQuote(name: string, at: TextPosition, analysis: StateAnalysis): boolean {
  const attributes = openingTag(at, analysis).slice(name.length + 1);
  return attributes.includes('=') && ['"', "'"].some((quote) => attributes.split(quote).length % 2 === 0);
}

/** Returns the rest of the line from a position on. */
function restOfLine({ line, column }: TextPosition, { source: { text, state, origin } }: StateAnalysis): string {
  if (origin === undefined) return text.split('\n')[line - 1]?.slice(column - 1) ?? '';
  const { body } = origin;
  return body === null ? '' : (state.text.split('\n')[line - body.line]?.slice(column - body.column) ?? '');
}

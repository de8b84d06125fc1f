import { TRANSITIONS } from '../../core/transitions/index.ts';
import { levelOf } from '../bad-names.ts';
import type { Page } from '../page.ts';
import { type Fault, rulePerPage } from '../rule.ts';
import type { Place } from '../sheet.ts';

/** A tag that names a state and is never closed. Half a tag in a sentence about tags is no mistake. */
export const unclosedTag = rulePerPage('unclosed-tag', 'error', (page, { names }) => [
  ...unclosedResult(page),
  ...page.halves.flatMap(({ name, after: state, at, sure }) => {
    const isTag = TRANSITIONS[name].body === 'state' && state !== '' && names.resolve(state).kind === 'found';
    // A script may print the end of a tag by itself.
    const endsElsewhere = page.kind === 'script' && page.source.state.text.toLowerCase().includes(`</${name}`);
    if (!sure || !isTag || endsElsewhere) return [];
    if (page.kind === 'prompt' && hasOpenQuote(name, at, page)) {
      const message = `a quote in the attributes of this \`<${name}>\` is never closed`;
      return [{ file: page.file, at, message, hint: 'Close it behind the value.', level: levelOf(page) }];
    }
    const message = `the \`<${name}>${state}\` has no \`</${name}>\``;
    return [{ file: page.file, at, message, hint: `Write <${name}>${state}</${name}>.`, level: levelOf(page) }];
  }),
]);

/** A prompt whose only tag is a result that is begun and not ended. */
function unclosedResult(page: Page): readonly Fault[] {
  const [half, another] = page.halves;
  const { text, rules } = page.source.state;
  if (page.kind !== 'prompt' || page.tags.length > 0 || rules.policy.length > 0) return [];
  if (half?.name !== 'result' || another !== undefined || !/<result\b[^<>]*>[\p{L}\p{N}]/iu.test(text)) return [];
  const message = 'the `<result>` has no `</result>`, and there is no other tag in the prompt';
  return [{ file: page.file, at: half.at, message, hint: 'Write <result>…</result>.', level: 'warning' }];
}

/** Whether there is a quote too many, or too few, between the name of a tag and its `>`. */
function hasOpenQuote(name: string, { line, column }: Place, { source }: Page): boolean {
  const rest = source.text.split('\n')[line - 1]?.slice(column + name.length) ?? '';
  const [attributes = ''] = rest.split('>', 1);
  return attributes.includes('=') && ['"', "'"].some((quote) => attributes.split(quote).length % 2 === 0);
}

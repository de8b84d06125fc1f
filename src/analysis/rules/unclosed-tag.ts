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
    const endsElsewhere = page.kind === 'script' && hasLoneEnd(name, page);
    if (!sure || !isTag || endsElsewhere) return [];
    if (page.kind === 'prompt' && hasOpenQuote(name, at, page)) {
      const message = `a quote in the attributes of this \`<${name}>\` is never closed`;
      return [{ file: page.file, at, message, hint: 'Close it behind the value.', level: levelOf(page) }];
    }
    const message = `the \`<${name}>${state}\` has no \`</${name}>\``;
    return [{ file: page.file, at, message, hint: `Write <${name}>${state}</${name}>.`, level: levelOf(page) }];
  }),
]);

/** Whether there is a line with the end of a tag and not with its beginning. */
function hasLoneEnd(name: string, { source }: Page): boolean {
  const lines = source.state.text.toLowerCase().split('\n');
  return lines.some((line) => line.includes(`</${name}`) && !line.includes(`<${name}`));
}

/** A result of a prompt that is begun and not ended: there is no other one, or what comes next was to be its end. */
function unclosedResult(page: Page): readonly Fault[] {
  const { policy } = page.source.state.rules;
  if (page.kind !== 'prompt' || (policy.length > 0 && !policy.some(({ tag }) => tag === 'result'))) return [];
  const hasOther = [...page.tags, ...page.quoted].some(({ name }) => policy.length === 0 || name === 'result');
  return page.halves.flatMap(({ name, at }) => {
    const [begun, next = ''] = BEGUN.exec(lineAt(at, page)) ?? [];
    if (name !== 'result' || begun === undefined) return [];
    const column = at.column + begun.length - next.length;
    const isOther = page.tags.some((tag) => tag.at.line === at.line && tag.at.column === column);
    const end = isOther ? '' : next;
    if (end === '' && hasOther) return [];
    const instead = end === '' ? '' : `: \`${end}\` does not close it`;
    const message = `the \`<result>\` has no \`</result>\`${instead}`;
    return [{ file: page.file, at, message, hint: 'Write <result>…</result>.', level: 'warning' }];
  });
}

/** A result with a text, up to the next tag if that may have been meant as its end. */
const BEGUN = /^<result\b[^<>]*>[\p{L}\p{N}{][^<>]*(<result>|<\/[a-z]+>|)/iu;

/** Whether there is a quote too many, or too few, between the name of a tag and its `>`. */
function hasOpenQuote(name: string, at: Place, page: Page): boolean {
  const [attributes = ''] = lineAt(at, page)
    .slice(name.length + 1)
    .split('>', 1);
  return attributes.includes('=') && ['"', "'"].some((quote) => attributes.split(quote).length % 2 === 0);
}

/** The rest of the line that begins at a place. */
const lineAt = ({ line, column }: Place, { source }: Page): string =>
  source.text.split('\n')[line - 1]?.slice(column - 1) ?? '';

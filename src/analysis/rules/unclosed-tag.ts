import { TRANSITIONS } from '../../core/transitions/index.ts';
import { levelOf } from '../bad-names.ts';
import { rulePerPage } from '../rule.ts';

/** A tag that names a state and is never closed. Half a tag in a sentence about tags is no mistake. */
export const unclosedTag = rulePerPage('unclosed-tag', 'error', (page, { names }) =>
  page.halves.flatMap(({ name, after: state, at, sure }) => {
    const isTag = TRANSITIONS[name].body === 'state' && state !== '' && names.resolve(state).kind === 'found';
    // A script may print the end of a tag by itself.
    const endsElsewhere = page.kind === 'script' && page.source.state.text.toLowerCase().includes(`</${name}`);
    if (!sure || !isTag || endsElsewhere) return [];
    const message = `the \`<${name}>${state}\` has no \`</${name}>\``;
    return [{ file: page.file, at, message, hint: `Write <${name}>${state}</${name}>.`, level: levelOf(page) }];
  }),
);

import { didYouMean } from '../../core/nearest.ts';
import { preferencesOf } from '../preferences.ts';
import { rulePerPage } from '../rule.ts';

const ALIASES = ['opus', 'sonnet', 'haiku', 'opusplan', 'default', 'best'];
const ALIAS = new RegExp(`^(?:${ALIASES.join('|')})(?:\\[1m\\])?$`, 'i');
/** What full ids have, whoever serves the model. */
const FULL_ID = /claude|anthropic|[/:]/i;

/** A model that Claude Code hardly knows. */
export const unknownModel = rulePerPage('unknown-model', 'warning', (page) =>
  preferencesOf(page, 'model').flatMap(({ value, at }) => {
    if (ALIAS.test(value) || FULL_ID.test(value)) return [];
    const message = `the model \`${value}\` is unknown${didYouMean(value, ALIASES)}`;
    return [{ file: page.file, at, message, hint: `Write ${ALIASES.slice(0, 3).join(', ')} or a full model id.` }];
  }),
);

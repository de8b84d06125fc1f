import { didYouMean, nearest } from '../../core/nearest.ts';
import { ALIASES, EFFORTS, preferencesOf } from '../preferences.ts';
import { rulePerPage } from '../rule.ts';

const ALIAS = new RegExp(`^(?:${ALIASES.join('|')})(?:\\[1m\\])?$`, 'i');
/** What full ids have, whoever serves the model. */
const FULL_ID = /claude|anthropic|[/:]/i;
const FAMILIES = ['opus', 'sonnet', 'haiku'];

/** A model that Claude Code hardly knows. */
export const unknownModel = rulePerPage('unknown-model', 'warning', (page) =>
  preferencesOf(page, 'model').flatMap(({ value, at }) => {
    const slip = slipIn(value);
    if (ALIAS.test(value) || (FULL_ID.test(value) && slip === undefined)) return [];
    const meant = EFFORTS.includes(value.toLowerCase()) ? ': that is an effort' : didYouMean(value, ALIASES);
    const why = slip === undefined ? meant : ` (did you mean ${slip}?)`;
    const hint = `Write ${FAMILIES.join(', ')} or a full model id.`;
    return [{ file: page.file, at, message: `the model \`${value}\` is unknown${why}`, hint }];
  }),
);

/** A full id in which the name of a family is misspelt, as it was meant. */
function slipIn(id: string): string | undefined {
  const words = /claude/i.test(id) ? (id.match(/[a-z]+/gi) ?? []) : [];
  for (const word of words) {
    const family = word.length < 4 || FAMILIES.includes(word.toLowerCase()) ? undefined : nearest(word, FAMILIES);
    if (family !== undefined) return id.replace(word, family);
  }
  return undefined;
}

import { didYouMean, nearest } from '../../core/nearest.ts';
import { EFFORTS, findPreferences, MODEL_ALIASES } from '../preferences.ts';
import { defineStateRule } from '../rule.ts';

const ALIAS = new RegExp(`^(?:${MODEL_ALIASES.join('|')})(?:\\[1m\\])?$`, 'i');
/** A part that full model ids have, for every provider. */
const FULL_ID = /claude|anthropic|[/:]/i;
const FAMILIES = ['opus', 'sonnet', 'haiku'];

/** A state asks for a model that Claude Code probably does not know. */
export const unknownModel = defineStateRule({ id: 'unknown-model', level: 'warning' }, (analysis) =>
  findPreferences(analysis, 'model').flatMap(({ value, at }) => {
    const corrected = correctFamily(value);
    if (ALIAS.test(value) || (FULL_ID.test(value) && corrected === undefined)) return [];
    const suggestion = EFFORTS.includes(value.toLowerCase()) ? ': that is an effort' : didYouMean(value, MODEL_ALIASES);
    const why = corrected === undefined ? suggestion : ` (did you mean ${corrected}?)`;
    const hint = `Write ${FAMILIES.join(', ')} or a full model id.`;
    return [{ at, message: `the model \`${value}\` is unknown${why}`, hint }];
  }),
);

/** Corrects a full id in which the name of a family is misspelt. */
function correctFamily(id: string): string | undefined {
  const words = /claude/i.test(id) ? (id.match(/[a-z]+/gi) ?? []) : [];
  for (const word of words) {
    const family = word.length < 4 || FAMILIES.includes(word.toLowerCase()) ? undefined : nearest(word, FAMILIES);
    if (family !== undefined) return id.replace(word, family);
  }
  return undefined;
}

import { didYouMean, nearest } from './text/nearest.ts';

/** A word that Claude Code does not know. */
export interface ValueProblem {
  /** A sentence without its full stop. */
  readonly message: string;
  /** A sentence that says what to write. */
  readonly hint: string;
  /** False if another program behind Claude Code may still know it: models of a gateway have any name. */
  readonly isCertain: boolean;
}

/** The efforts that Claude Code knows. */
export const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'];

/** The permission modes that Claude Code knows. */
export const PERMISSION_MODES = ['acceptEdits', 'plan', 'dontAsk', 'auto', 'default', 'manual', 'bypassPermissions'];

/** The permission modes that allow no more than the default one. */
export const NARROW_PERMISSION_MODES: readonly string[] = ['acceptEdits', 'default', 'manual', 'plan', 'dontAsk'];

/** The names that Claude Code has for models, whatever their version. */
const MODEL_ALIASES = ['opus', 'sonnet', 'haiku', 'opusplan', 'default', 'best'];
const MODEL_ALIAS = new RegExp(`^(?:${MODEL_ALIASES.join('|')})(?:\\[1m\\])?$`, 'i');
const MODEL_FAMILIES = ['opus', 'sonnet', 'haiku'];
const CONTAINS_FAMILY = new RegExp(`\\b(?:${MODEL_FAMILIES.join('|')})\\b`, 'i');
/** A part that full model ids have, for every provider. */
const FULL_MODEL_ID = /claude|anthropic|[/:]/i;

/** Normalizes the name of a model for Claude Code: aliases in lower case, full ids as written. */
export const normalizeModel = (written: string): string =>
  MODEL_ALIAS.test(written) ? written.toLowerCase() : written;

/** Normalizes an effort for Claude Code. */
export const normalizeEffort = (written: string): string => written.toLowerCase();

/** The problem with an effort; undefined if Claude Code knows it. */
export function findEffortProblem(effort: string): ValueProblem | undefined {
  if (EFFORTS.includes(effort.toLowerCase())) return undefined;
  const why = MODEL_ALIASES.includes(effort.toLowerCase()) ? ': that is a model' : didYouMean(effort, EFFORTS);
  return { message: `the effort \`${effort}\` is unknown${why}`, hint: hintToWrite(EFFORTS), isCertain: true };
}

/** The problem with a permission mode; undefined if Claude Code knows it. */
export function findPermissionModeProblem(mode: string): ValueProblem | undefined {
  if (PERMISSION_MODES.includes(mode)) return undefined;
  const message = `the permission mode \`${mode}\` is unknown${didYouMean(mode, PERMISSION_MODES)}`;
  return { message, hint: hintToWrite(PERMISSION_MODES), isCertain: true };
}

/** The problem with a model; undefined if Claude Code knows it, or may know it because it is a full id. */
export function findModelProblem(model: string): ValueProblem | undefined {
  const corrected = correctFamily(model) ?? nearest(model, MODEL_ALIASES);
  if (MODEL_ALIAS.test(model) || (FULL_MODEL_ID.test(model) && correctFamily(model) === undefined)) return undefined;
  const isEffort = EFFORTS.includes(model.toLowerCase());
  const isFlag = model.startsWith('-');
  const suggestion = corrected === undefined ? '' : ` (did you mean ${corrected}?)`;
  return {
    message: `the model \`${model}\` is unknown${isEffort ? ': that is an effort' : suggestion}`,
    hint: `Write ${MODEL_FAMILIES.join(', ')} or a full model id.`,
    // `sonnet-4.5` may be the name of a gateway.
    isCertain: isFlag || isEffort || (corrected !== undefined && !CONTAINS_FAMILY.test(model)),
  };
}

/** Corrects a full id in which the name of a family is misspelt. */
function correctFamily(id: string): string | undefined {
  const words = /claude/i.test(id) ? (id.match(/[a-z]+/gi) ?? []) : [];
  for (const word of words) {
    const family =
      word.length < 4 || MODEL_FAMILIES.includes(word.toLowerCase()) ? undefined : nearest(word, MODEL_FAMILIES);
    if (family !== undefined) return id.replace(word, family);
  }
  return undefined;
}

const hintToWrite = (words: readonly string[]): string => `Write ${words.slice(0, -1).join(', ')} or ${words.at(-1)}.`;

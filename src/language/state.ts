import type { Evaluator, Rules } from './policy.ts';
import type { Preference } from './position.ts';
import type { TextPosition } from './text/text.ts';

/** True if a pattern matches an answer; `timeout` if that could not be found out in time, null for other evaluators. */
export type PatternMatch = boolean | 'timeout' | null;

/** The name of an evaluator for people: its file as the author wrote it, or its pattern. */
export function describeEvaluator(evaluator: Evaluator): string {
  if (evaluator.kind !== 'pattern') return evaluator.file;
  return `${evaluator.overridesOn === 'match' ? 'match' : 'unless'} \`${evaluator.pattern}\``;
}

/** The leading `(?i)`, `(?m)` or `(?s)` of a pattern, as other languages write its flags. */
const FLAGS = /^\(\?([ims]+)\)/;

/** Compiles a pattern, in which `^` and `$` stand for the ends of lines; a message says what is wrong with it. */
export function compilePattern(pattern: string): RegExp | { readonly problem: string } {
  const [prefix = '', flags = ''] = FLAGS.exec(pattern) ?? [];
  try {
    return new RegExp(pattern.slice(prefix.length), [...new Set(`m${flags}`)].join(''));
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** The settings of Claude Code in one state, besides model and effort; null for those of the run. */
export interface StateSettings {
  readonly timeoutMs: number | null;
  readonly permissionMode: string | null;
  readonly allowedTools: readonly string[] | null;
  readonly disallowedTools: readonly string[] | null;
  readonly appendSystemPrompt: string | null;
}

/** A JSON Schema. */
export type JsonSchema = boolean | Readonly<Record<string, unknown>>;

/** True if a value can be a JSON Schema. */
export const isJsonSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'boolean' || (typeof value === 'object' && value !== null && !Array.isArray(value));

/** A state as read from its file. A script has no frontmatter, so its rules permit everything. */
export interface State extends Preference, StateSettings {
  readonly file: string;
  readonly kind: 'prompt' | 'script';
  readonly description: string | null;
  /** True if its turns run in a sandbox, whatever the run says; absent if not. */
  readonly sandbox?: boolean;
  readonly rules: Rules;
  /** The schema of its `<result>`; absent if it may be any text. */
  readonly resultSchema?: JsonSchema;
  /** The prompt without its frontmatter, or the script. */
  readonly text: string;
}

/** A problem in a workflow's file, with its position. */
export interface FileFinding extends TextPosition {
  readonly level: 'error' | 'warning';
  readonly file: string;
  readonly message: string;
}

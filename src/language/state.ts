import type { Rules } from './policy.ts';
import type { Preference } from './position.ts';
import type { TextPosition } from './text/text-position.ts';

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

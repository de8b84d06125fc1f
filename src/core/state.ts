import type { Rules } from './policy.ts';
import type { Preference } from './position.ts';
import type { TextPosition } from './text-position.ts';

/** How Claude Code is to be run in one state, beyond model and effort; null means: as for the whole run. */
export interface StateSettings {
  readonly timeoutMs: number | null;
  readonly permissionMode: string | null;
  readonly allowedTools: readonly string[] | null;
  readonly disallowedTools: readonly string[] | null;
  readonly appendSystemPrompt: string | null;
}

/** A state as its file says it. A script has no frontmatter: its rules permit everything. */
export interface State extends Preference, StateSettings {
  readonly file: string;
  readonly kind: 'prompt' | 'script';
  readonly description: string | null;
  readonly rules: Rules;
  /** The prompt without its frontmatter, or the script. */
  readonly text: string;
}

/** Something a workflow's author should know, with the place it was found at. */
export interface Finding extends TextPosition {
  readonly severity: 'error' | 'warning';
  readonly file: string;
  readonly message: string;
}

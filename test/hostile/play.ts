import { randomUUID } from 'node:crypto';

/** One thing that the fake Claude Code does; claude.mjs says what there is. */
export type Step = Readonly<Record<string, unknown>>;

/** What it does in one call. */
export type Act = readonly Step[];

/** The prompt that makes the fake play these acts, one in each call; a text is an answer like any other. */
export const play = (...acts: readonly (Act | string)[]): string =>
  `@play ${JSON.stringify({ id: randomUUID(), acts: acts.map((act) => (typeof act === 'string' ? says(act) : act)) })}\n`;

/** A state: its frontmatter and its prompt. */
export const state = (frontmatter: string, prompt: string): string => `---\n${frontmatter}\n---\n${prompt}`;

export const INIT: Step = { init: {} };
export const RESULT = '<result>done</result>';

/** A call as it should be. */
export const says = (text: string): Act => [INIT, { assistant: { text } }, { result: { result: text } }];

/** A call that the API refused: Claude Code makes up a message, calls it a success and an error, and exits with 1. */
export const refused = (text: string, error: string, more: Step = {}): Act => [
  INIT,
  { synthetic: { text, error } },
  { result: { is_error: true, result: text, terminal_reason: 'api_error', ...more } },
  { exit: 1 },
];

/** A call that ended with an error of Claude Code's own: such a result has no text. */
export const broken = (subtype: string, errors: readonly string[], before: Act = []): Act => [
  INIT,
  ...before,
  { result: { without: ['result'], subtype, is_error: true, errors, terminal_reason: null } },
  { exit: 1 },
];

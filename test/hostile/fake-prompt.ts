import { randomUUID } from 'node:crypto';

/** One step of the fake Claude Code; claude.mjs lists them. */
export type Step = Readonly<Record<string, unknown>>;

/** The steps of one call. */
export type FakeCall = readonly Step[];

/** The prompt that makes the fake do these calls, one after the other; a text is a normal answer. */
export const fakePrompt = (...calls: readonly (FakeCall | string)[]): string =>
  `@calls ${JSON.stringify({ id: randomUUID(), calls: calls.map((call) => (typeof call === 'string' ? answersWith(call) : call)) })}\n`;

/** A state: its frontmatter and its prompt. */
export const state = (frontmatter: string, prompt: string): string => `---\n${frontmatter}\n---\n${prompt}`;

/** The first line of every normal call. */
export const INIT: Step = { init: {} };
/** An answer that ends the run. */
export const RESULT = '<result>done</result>';

/** A call without problems. */
export const answersWith = (text: string): FakeCall => [INIT, { assistant: { text } }, { result: { result: text } }];

/** A call that the API refused: Claude Code makes up a message, calls it a success and an error, and exits with 1. */
export const refused = (text: string, error: string, more: Step = {}): FakeCall => [
  INIT,
  { synthetic: { text, error } },
  { result: { is_error: true, result: text, terminal_reason: 'api_error', ...more } },
  { exit: 1 },
];

/** A call that ends with an error of Claude Code itself: such a result has no text. */
export const broken = (subtype: string, errors: readonly string[], before: FakeCall = []): FakeCall => [
  INIT,
  ...before,
  { result: { without: ['result'], subtype, is_error: true, errors, terminal_reason: null } },
  { exit: 1 },
];

import { DURATION, type OptionRow } from './option-types.ts';

/** The time that a Claude turn may be silent if neither its state nor an option sets one. */
export const DEFAULT_CLAUDE_TIMEOUT_MS = 900_000;

/** The option that says how long a turn may be silent. */
export const TIMEOUT_OPTION: OptionRow<number | null> = {
  key: 'timeout',
  type: DURATION,
  default: null,
  whenOmitted: `${DEFAULT_CLAUDE_TIMEOUT_MS / 1000} for Claude turns, never for scripts`,
  example: DEFAULT_CLAUDE_TIMEOUT_MS / 1000,
  argument: '<time>',
  scenario: 'authored',
  help: 'end a turn after this much silence (seconds, or 90s, 10m, 2h), where its state does not say; 0 for never',
};

/** The option that says for how long a conversation stays open without a turn. */
export const KEEP_OPEN_OPTION: OptionRow<number | null> = {
  key: 'keep_open',
  type: DURATION,
  default: 300_000,
  argument: '<time>',
  help: 'keep Claude Code running this long for the next prompt of its conversation, as in 90s or 5m; 0 to start it for each',
};

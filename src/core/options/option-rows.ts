import { ASK_MODES, type AskMode } from '../../language/ask.ts';
import { choice, DURATION, OPTIONAL_TEXT, type OptionRow, type OptionType, optionalChoice } from './option-types.ts';

/** The option that says what a run does at a question. */
export const ON_ASK_OPTION: OptionRow<AskMode | null> = {
  key: 'on_ask',
  type: optionalChoice(...ASK_MODES),
  default: null,
  whenOmitted: 'wait in a terminal, else exit',
  example: 'exit',
  argument: '<mode>',
  scenario: 'authored',
  help: 'at a question: wait for its answer, exit with code 2 once nothing else can be done, or fail',
};

/** The option that names a command to be run when a person should know something. */
export const NOTIFY_OPTION: OptionRow<string | null> = {
  key: 'notify',
  type: OPTIONAL_TEXT,
  default: null,
  whenOmitted: 'none',
  example: 'jq -r .message | wall',
  argument: '<command>',
  trust: { effect: 'runs this command', isNeededFor: (command) => command !== null },
  help: 'run this command at a question, a pause, a failure, a limit and the end, with the facts as JSON on stdin',
};

/** The fate of an agent whose node is gone. */
export type WhenLost = 'wait' | 'rehome' | 'fail';

/** The option that says what becomes of an agent whose worker is gone. */
export const WHEN_LOST_OPTION: OptionRow<WhenLost> = {
  key: 'when_lost',
  type: choice('wait', 'rehome', 'fail'),
  default: 'wait',
  argument: '<mode>',
  help: 'an agent whose worker is gone: wait for that worker, rehome it at another one, or fail; only with a database',
};

/** The percentages that are written as text, as a pattern for JSON Schema. */
export const PERCENT_PATTERN = '^\\d{1,2}%?$';

/** A percentage below 100, kept as a whole number; 0 is written for none. */
export const PERCENT: OptionType<number | null> = {
  kind: 'percent',
  choices: [],
  expected: 'a whole percentage below 100, such as 80%',
  jsonSchema: { type: ['integer', 'string'], minimum: 0, exclusiveMaximum: 100, pattern: PERCENT_PATTERN },
  nullable: true,
  parse(written) {
    if (typeof written !== 'string' && typeof written !== 'number') return undefined;
    return new RegExp(PERCENT_PATTERN).test(`${written}`) ? Number.parseInt(`${written}`, 10) || null : undefined;
  },
  format: (percent) => (percent === null ? 0 : `${percent}%`),
};

/** The option that says from where on fewer Claude turns run at once. */
export const SLOW_AT_OPTION: OptionRow<number | null> = {
  key: 'slow_at',
  type: PERCENT,
  default: null,
  argument: '<percent>',
  scenario: 'recorded',
  help: 'run fewer and fewer Claude turns at once from this use of the subscription on, as in 80%; 0 for never',
};

/** The option that keeps a share of the subscription for the user. */
export const RESERVE_OPTION: OptionRow<number | null> = {
  key: 'reserve',
  type: PERCENT,
  default: null,
  argument: '<percent>',
  scenario: 'recorded',
  help: 'keep this share of the subscription for yourself, as in 20%: the run waits for the reset; 0 for nothing',
};

/** The option that says how long a run sleeps at most before it continues. */
export const MAX_WAIT_OPTION: OptionRow<number | null> = {
  key: 'max_wait',
  type: DURATION,
  default: 24 * 3_600_000,
  argument: '<time>',
  scenario: 'recorded',
  help: 'pause the run instead of waiting if a usage limit ends later than this, as in 12h or 7d; 0 to wait for any',
};

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

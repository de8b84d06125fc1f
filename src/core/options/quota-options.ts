import { DURATION, type OptionRow, type OptionType } from './option-types.ts';

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

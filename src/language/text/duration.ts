const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The longest time that a timer can wait; a longer one would fire at once. It is more than 24 days. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** The ways to write a duration, for messages. */
export const DURATION_FORMS = 'a number of seconds, or a duration such as 90s, 10m or 24h';

/** The durations that are written as text, as a pattern for JSON Schema. */
export const DURATION_PATTERN = '^\\d{1,9}(\\.\\d{1,9})?[smhd]?$';

/** Reads a duration: seconds, or a number with a unit. In whole milliseconds; undefined if it is none. */
export function parseDurationMs(written: string | number): number | undefined {
  if (typeof written === 'number') return written >= 0 ? toWholeMs(written * 1_000) : undefined;
  if (!new RegExp(DURATION_PATTERN).test(written)) return undefined;
  const factor = UNITS_MS[written.slice(-1)];
  return factor === undefined ? toWholeMs(Number(written) * 1_000) : toWholeMs(Number(written.slice(0, -1)) * factor);
}

/** However short a time is, it does not become 0, which means something else. */
const toWholeMs = (ms: number): number => (ms === 0 ? 0 : Math.max(1, Math.round(ms)));

import { z } from 'zod';
import { QUOTA_STATUSES, type Quota, type QuotaWindow } from '../../core/run/quota.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Messages round times down to minutes, and a time that has just passed must not mean tomorrow. */
const SLACK_MS = 2 * MINUTE_MS;
/** A later time is no reset of a usage limit: the longest limits are monthly. */
const MAX_RESET_DISTANCE_MS = 32 * DAY_MS;
/** The most that a try is put off so that not all runs come at once. */
const MAX_JITTER_MS = 10_000;
/** How long to wait for a limit that should be over; twice as long each time that it is not. */
const OVERDUE_MS = 1_000;
const FIRST_BACKOFF_MS = 5 * MINUTE_MS;
const MAX_BACKOFF_MS = 60 * MINUTE_MS;

/** A usage limit that Claude Code reported. */
interface UsageLimitReport {
  /** From a `rate_limit_event`: seconds since 1970. */
  readonly resetsAt: number | null;
  readonly text: string;
}

/**
 * Computes when to try again after a usage limit: at the second that it names, a few later by `jitter` (from 0 up to 1) so that
 * not all runs try at once. If only a minute is named, after that minute. If that has passed, in a second, then in two, and so on
 * up to a minute. If the end of the limit is not known, after five minutes, then ten, and so on up to an hour.
 */
export function limitUntilMs(limit: UsageLimitReport, nowMs: number, priorLimits: number, jitter = 0): number {
  const reset = parseResetMs(limit, nowMs);
  const backOff = (firstMs: number, maxMs: number): number =>
    nowMs + Math.min(maxMs, firstMs * 2 ** Math.max(0, priorLimits));
  if (reset === null) return backOff(FIRST_BACKOFF_MS, MAX_BACKOFF_MS);
  const isExact = parseExactResetMs(limit, nowMs) !== null;
  const endsAt = isExact ? reset : reset + MINUTE_MS;
  const earliest = endsAt > nowMs ? endsAt : backOff(OVERDUE_MS, MINUTE_MS);
  return isExact ? earliest + Math.round(jitter * MAX_JITTER_MS) : earliest;
}

/** Finds the end of a limit in a report from `nowMs`; null if it is not there. The event is exact, the text is not. */
export const parseResetMs = (limit: UsageLimitReport, nowMs: number): number | null =>
  parseExactResetMs(limit, nowMs) ?? plausible(dateInText(limit.text, nowMs), nowMs);

const parseExactResetMs = ({ resetsAt, text }: UsageLimitReport, nowMs: number): number | null =>
  plausible(epochMs(resetsAt), nowMs) ?? plausible(epochInText(text), nowMs);

/** True if a text is a message about a usage limit. */
export const isUsageLimitText = (text: string): boolean =>
  /usage limit reached|hit your (?:[\w'’-]+ )*limit|out of (?:extra usage|usage credits)|spend limit/i.test(text);

function plausible(ms: number | null, nowMs: number): number | null {
  return ms !== null && ms >= nowMs - MAX_RESET_DISTANCE_MS && ms <= nowMs + MAX_RESET_DISTANCE_MS ? ms : null;
}

/** The value is in seconds, unless it is too large for that. */
function epochMs(value: number | null): number | null {
  if (value === null || !Number.isFinite(value)) return null;
  return value > 100_000_000_000 ? value : value * 1000;
}

function epochInText(text: string): number | null {
  const found = /\|\s*(\d{10,13})\b/.exec(text);
  return found === null ? null : epochMs(Number(found[1]));
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** "resets 3:50pm (Asia/Tokyo)", "resets Sep 14 at 8pm (…)", "resets Jan 2, 2027, 8:30 PM". */
const RESETS =
  /resets?\s+(?:at\s+)?(?:(?<month>[a-z]{3})[a-z]*\.?\s+(?<day>\d{1,2})(?:,?\s+(?<year>\d{4}))?,?\s+(?:at\s+)?)?(?<hour>\d{1,2})(?::(?<minute>\d{2}))?\s*(?<half>[ap])\.?m\.?(?:\s*\((?<zone>[^)]+)\))?/i;

function dateInText(text: string, nowMs: number): number | null {
  const parts = RESETS.exec(text)?.groups;
  if (parts === undefined) return null;
  const zone = findZone(parts.zone);
  if (zone === null) return null;
  const time = {
    hour: (Number(parts.hour) % 12) + (/p/i.test(parts.half ?? '') ? 12 : 0),
    minute: Number(parts.minute ?? 0),
  };
  if (parts.month === undefined) return nextTime(time, zone, nowMs);
  const month = MONTHS.indexOf(parts.month.toLowerCase());
  if (month < 0) return null;
  const date = { month, day: Number(parts.day), ...time };
  if (parts.year !== undefined) return wallTimeToMs({ year: Number(parts.year), ...date }, zone);
  return nextDate(date, zone, nowMs);
}

/** That time of today, or of tomorrow if it has passed, in that time zone. */
function nextTime(time: { hour: number; minute: number }, zone: Zone, nowMs: number): number {
  const today = toWallTime(nowMs, zone);
  for (const daysLater of [0, 1]) {
    const ms = wallTimeToMs({ ...today, day: today.day + daysLater, ...time }, zone);
    if (ms >= nowMs - SLACK_MS) return ms;
  }
  return wallTimeToMs({ ...today, day: today.day + 2, ...time }, zone);
}

/** That date of this year, or of the next if it has passed. */
function nextDate(date: Omit<WallTime, 'year'>, zone: Zone, nowMs: number): number {
  const { year } = toWallTime(nowMs, zone);
  const thisYear = wallTimeToMs({ year, ...date }, zone);
  return thisYear >= nowMs - SLACK_MS ? thisYear : wallTimeToMs({ year: year + 1, ...date }, zone);
}

/** A local time in some time zone; the month counts from 0. */
interface WallTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
}

type Zone = Intl.DateTimeFormat;

/** A time zone by its name, or the machine's own; null if there is none of that name. */
function findZone(name: string | undefined): Zone | null {
  try {
    return new Intl.DateTimeFormat('en-US', {
      ...(name !== undefined && { timeZone: name.trim() }),
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    });
  } catch {
    return null;
  }
}

function toWallTime(ms: number, zone: Zone): WallTime {
  const part = Object.fromEntries(zone.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = part;
  return { year, month: month - 1, day, hour, minute };
}

const asIfUtc = ({ year, month, day, hour, minute }: WallTime): number => Date.UTC(year, month, day, hour, minute);

/**
 * Converts a local time, to the earlier moment if there are two. The zone's offset depends on the result, so it is
 * looked up twice; a time that the clocks skip counts as after the skip.
 */
function wallTimeToMs(wall: WallTime, zone: Zone): number {
  const targetMs = asIfUtc(wall);
  const offsetAt = (ms: number): number => asIfUtc(toWallTime(ms, zone)) - Math.floor(ms / MINUTE_MS) * MINUTE_MS;
  const first = targetMs - offsetAt(targetMs);
  const second = targetMs - offsetAt(first);
  return asIfUtc(toWallTime(second, zone)) === targetMs ? second : Math.max(first, second);
}

/** Counts usage limits in a row: after one without a time, each next wait is longer. */
export class LimitBackoff {
  private count = 0;
  private blockedUntilMs = 0;

  /** How many limits were met in a row before the one at `atMs`. Parallel turns meet the same one. */
  priorLimits(atMs: number): number {
    return atMs < this.blockedUntilMs ? this.count - 1 : this.count;
  }

  recordLimit(atMs: number, untilMs: number): void {
    if (atMs >= this.blockedUntilMs) this.count += 1;
    this.blockedUntilMs = Math.max(this.blockedUntilMs, untilMs);
  }

  /** Starts the count again if a turn succeeded that began after the last limit should have ended. */
  recordSuccess(startedAtMs: number): void {
    if (startedAtMs >= this.blockedUntilMs) this.count = 0;
  }
}

const nullableNumber = z.number().nullable().default(null).catch(null);
const nullableText = z.string().nullable().default(null).catch(null);

const WINDOW = z.object({ utilization: nullableNumber, resetsAt: nullableNumber, status: nullableText });

/** `rate_limit_event`: how full the windows of a subscription are; the most important one, and in newer versions all. */
export const RATE_LIMIT_SCHEMA = z
  .object({
    rate_limit_info: WINDOW.extend({
      status: z.string(),
      rateLimitType: nullableText,
      unifiedWindows: z.record(z.string(), z.unknown()).default({}).catch({}),
    }),
  })
  .transform(({ rate_limit_info: { rateLimitType, unifiedWindows, ...main } }) => ({
    kind: 'rate_limit' as const,
    ...main,
    type: rateLimitType,
    windows: Object.entries(unifiedWindows).flatMap(([type, value]) => {
      const window = WINDOW.safeParse(value).data;
      return window === undefined ? [] : [{ type, ...window }];
    }),
  }));

/** How full the windows of a subscription are. */
export type RateLimitEvent = z.infer<typeof RATE_LIMIT_SCHEMA>;

interface ReportedWindow {
  readonly type: string | null;
  readonly utilization: number | null;
  readonly resetsAt: number | null;
  readonly status: string | null;
}

/** The windows that Claude Code reports. One whose reset is not known is of no use, and an impossible share is not known. */
export function readQuotaWindows({ windows, ...main }: RateLimitEvent, reportedAt: number): Quota['windows'] {
  const readings = [main, ...windows].flatMap(({ type, ...window }) => {
    const read = type === null ? undefined : readWindow({ type, ...window }, reportedAt);
    return type === null || read === undefined ? [] : [[type, read] as const];
  });
  // A later reading is more exact: in the older version the first has no share as long as there is room.
  return Object.fromEntries(readings);
}

function readWindow(
  { type, utilization, resetsAt, status }: ReportedWindow,
  reportedAt: number,
): QuotaWindow | undefined {
  if (resetsAt === null || !(resetsAt > 0) || resetsAt > MAX_SECONDS) return undefined;
  const known = QUOTA_STATUSES.find((each) => each === status) ?? 'allowed';
  const share = utilization !== null && utilization >= 0 && utilization < MAX_UTILIZATION ? utilization : null;
  return {
    percent: share === null ? percentWhenFull(type, known) : Math.round(share * 10_000) / 100,
    status: known,
    resetsAtMs: Math.round(resetsAt * 1000),
    reportedAt,
  };
}

const MAX_SECONDS = 100_000_000_000;
const MAX_UTILIZATION = 100;

/** The windows that every turn uses. */
const COMMON_WINDOWS: readonly (string | null)[] = ['five_hour', 'seven_day'];

/** A window of which a turn was refused is full; that of one model says nothing about turns of others. */
const percentWhenFull = (type: string | null, status: QuotaWindow['status']): number | null =>
  status === 'rejected' && COMMON_WINDOWS.includes(type) ? 100 : null;

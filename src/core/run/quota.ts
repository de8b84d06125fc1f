import type { Options } from '../options/options.ts';

/** The state of a window: room, little room, or none. */
export const QUOTA_STATUSES = ['allowed', 'allowed_warning', 'rejected'] as const;

/** How full a window of a subscription is, as it was last reported. */
export interface QuotaWindow {
  /** The share that is used, in percent with at most two decimals; null if it was not reported. */
  readonly percent: number | null;
  readonly status: (typeof QUOTA_STATUSES)[number];
  /** When it is empty again. */
  readonly resetsAtMs: number;
  readonly reportedAt: number;
}

/** The last word about the windows of an account, by their type as Claude Code names it: `five_hour`, `seven_day` … */
export interface Quota {
  /** Tells accounts apart and says nothing else about them. */
  readonly account: string;
  readonly windows: Readonly<Record<string, QuotaWindow>>;
}

const HOUR_MS = 3_600_000;

/** The longest time to a reset; a later one means that the clock was wrong, then or now. */
function maxDistanceMs(type: string): number {
  if (type === 'five_hour') return 6 * HOUR_MS;
  return (type.startsWith('seven_day') ? 8 : 32) * 24 * HOUR_MS;
}

/** Adds what was reported to what is known. What is known of another account is forgotten. */
export function mergeQuota(known: Quota | null, report: Quota, at: number): Quota {
  if (known === null || known.account !== report.account) return report;
  const newer = Object.entries(report.windows).filter(([type, window]) => {
    const before = Object.hasOwn(known.windows, type) ? known.windows[type] : undefined;
    return before === undefined || isNewer(window, before, at);
  });
  return newer.length === 0 ? known : { ...known, windows: { ...known.windows, ...Object.fromEntries(newer) } };
}

/** A word from the future was said before the clock was set back. */
function isNewer(word: QuotaWindow, before: QuotaWindow, at: number): boolean {
  if (word.reportedAt !== before.reportedAt) return word.reportedAt > before.reportedAt || before.reportedAt > at;
  return (word.percent ?? 0) > (before.percent ?? 0);
}

/** The quota without windows that have reset. */
export function dropPassedWindows<Known extends Quota | null>(quota: Known, at: number): Known {
  const entries = Object.entries(quota?.windows ?? {});
  const left = entries.filter(([type, { resetsAtMs }]) => resetsAtMs > at && resetsAtMs - at <= maxDistanceMs(type));
  return quota === null || left.length === entries.length ? quota : { ...quota, windows: Object.fromEntries(left) };
}

/** The windows that limit turns, with what is used of each. Usage that is paid for separately is no such window. */
const limitingWindows = (quota: Quota | null): readonly (readonly [type: string, used: number, resetsAtMs: number])[] =>
  Object.entries(quota?.windows ?? {}).flatMap(([type, { percent, resetsAtMs }]) =>
    percent === null || type === 'overage' ? [] : [[type, percent, resetsAtMs] as const],
  );

/** The number from which turns are taken away if a run may have any number of them at once. */
const MANY_TURNS = 8;

/**
 * How many Claude turns may run at once: from `slowAt` on fewer and fewer, down to one where the windows are full or the
 * reserve begins. Null for any number.
 */
export function parallelTurns({
  options,
  quota,
}: {
  readonly options: Options;
  readonly quota: Quota | null;
}): number | null {
  const { parallel, slowAt, reserve } = options;
  const used = Math.max(0, ...limitingWindows(quota).map(([, percent]) => percent));
  if (slowAt === null || used < slowAt) return parallel;
  const most = parallel ?? MANY_TURNS;
  const way = (used - slowAt) / (100 - (reserve ?? 0) - slowAt);
  return way >= 0 && way < 1 ? Math.max(1, Math.floor(most - (most - 1) * way)) : 1;
}

/** The hold on Claude turns because the rest of a window is reserved for the user; null for none. */
export function findReserveHold({
  id,
  options,
  quota,
}: {
  readonly id: string;
  readonly options: Options;
  readonly quota: Quota | null;
}): {
  readonly untilMs: number;
  readonly message: string;
} | null {
  const { reserve } = options;
  if (reserve === null) return null;
  const full = limitingWindows(quota).filter(([, percent]) => percent >= 100 - reserve);
  const last = full.toSorted(([, , a], [, , b]) => a - b).at(-1);
  if (last === undefined) return null;
  const [type, percent, resetsAtMs] = last;
  return {
    untilMs: resetsAtMs + wakeDelayMs(id),
    message: `${formatPercent(percent)} of the ${nameWindow(type)} is used, and ${formatPercent(reserve)} is kept for you (--reserve).`,
  };
}

const MAX_WAKE_DELAY_MS = 10_000;

/** Keeps runs that wait for the same reset from continuing in the same moment. */
function wakeDelayMs(runId: string): number {
  let sum = 0;
  for (const character of runId) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % MAX_WAKE_DELAY_MS;
  return sum;
}

const WINDOW_NAMES: Readonly<Record<string, string>> = {
  five_hour: '5-hour window',
  seven_day: 'weekly window',
  seven_day_opus: 'weekly window of Opus',
  seven_day_sonnet: 'weekly window of Sonnet',
  seven_day_overage_included: 'weekly window with extra usage',
  overage: 'extra usage',
};

/** The name of a window for people. */
export const nameWindow = (type: string): string =>
  (Object.hasOwn(WINDOW_NAMES, type) ? WINDOW_NAMES[type] : undefined) ?? `window ${type}`;

/** `83 %`. */
export const formatPercent = (percent: number): string => `${percent} %`;

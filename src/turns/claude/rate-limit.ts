import { z } from 'zod';
import { QUOTA_STATUSES, type Quota, type QuotaWindow } from '../../core/run/quota.ts';

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

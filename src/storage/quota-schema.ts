import { z } from 'zod';
import { QUOTA_STATUSES, type Quota } from '../core/run/quota.ts';

/** How full the windows of a subscription are, in a state file and in the file that runs share. */
export const QUOTA_WINDOWS_SCHEMA: z.ZodType<Quota['windows']> = z.record(
  z.string(),
  z.strictObject({
    percent: z.number().nonnegative().nullable(),
    status: z.enum(QUOTA_STATUSES),
    resetsAtMs: z.number(),
    reportedAt: z.number(),
  }),
);

/** The last word about the windows of an account. */
export const QUOTA_SCHEMA: z.ZodType<Quota> = z.strictObject({ account: z.string(), windows: QUOTA_WINDOWS_SCHEMA });

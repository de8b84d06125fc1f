import type { Step } from '../event.ts';
import { withQuota } from '../quota-hold.ts';
import type { Run } from '../run.ts';
import type { QuotaReported } from '../signal.ts';

/** Takes note of how full the windows of the subscription are. */
export const handleQuotaReported = (run: Run, { at, quota }: QuotaReported): Step => withQuota(run, quota, at);

import type { Step } from '../run/event.ts';
import { withQuota } from '../run/quota-hold.ts';
import type { Run } from '../run/run.ts';
import type { QuotaReported } from './signal.ts';

/** Takes note of how full the windows of the subscription are. */
export const handleQuotaReported = (run: Run, { at, quota }: QuotaReported): Step => withQuota(run, quota, at);

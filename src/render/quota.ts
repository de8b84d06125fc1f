import { formatPercent, nameWindow, type Quota } from '../core/run/quota.ts';

/** The windows of a subscription with what is used of them, the fullest first: `5-hour window 83 % until 17:19`. */
export const formatQuotaWindows = ({ windows }: Quota, formatTime: (ms: number) => string): readonly string[] =>
  Object.entries(windows)
    .toSorted(([, a], [, b]) => (b.percent ?? 0) - (a.percent ?? 0))
    .map(([type, { percent, status, resetsAtMs }]) => {
      const used = percent === null ? WITHOUT_PERCENT[status] : formatPercent(Math.floor(percent));
      return `${nameWindow(type)} ${used} until ${formatTime(resetsAtMs)}`;
    });

/** The same in few characters: `quota 5h 83 % 7d 31 %`; null if no share is known. */
export function formatShortQuota(quota: Quota | null): string | null {
  const parts = Object.entries(quota?.windows ?? {}).flatMap(([type, { percent }]) =>
    percent === null ? [] : [`${SHORT_NAMES[type] ?? nameWindow(type)} ${formatPercent(Math.floor(percent))}`],
  );
  return parts.length === 0 ? null : `quota ${parts.join(' ')}`;
}

const SHORT_NAMES: Readonly<Record<string, string>> = { five_hour: '5h', seven_day: '7d' };

const WITHOUT_PERCENT = { allowed: 'has room', allowed_warning: 'nearly full', rejected: 'full' } as const;

/** True if a window is full enough, or a turn was refused, so that people should hear of it. */
export const isQuotaWorthALine = ({ windows }: Quota): boolean =>
  Object.values(windows).some(({ percent, status }) => status !== 'allowed' || (percent ?? 0) >= 75);

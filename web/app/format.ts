import type { LogEntryDocument, QuotaDocument, TokensDocument } from '../../src/documents/types.ts';

/** Dollars as the terminal shows them. */
export const formatUsd = (usd: number): string => `$${usd.toFixed(usd !== 0 && usd < 0.1 ? 4 : 2)}`;

/** A number of tokens in few characters; empty for none. */
export function formatTokens(tokens: TokensDocument | undefined): string {
  if (tokens === undefined) return '';
  const count = tokens.input + tokens.output + tokens.cache_read + tokens.cache_creation;
  if (count === 0) return '';
  if (count < 1_000) return `${count}`;
  return count < 1_000_000 ? `${(count / 1_000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

const WINDOW_NAMES: Readonly<Record<string, string>> = { five_hour: '5h', seven_day: '7d' };

/** The used share of a subscription: `quota 5h 83 % until 17:19:00`; empty if no share is known. */
export function formatQuota(quota: QuotaDocument | null | undefined): string {
  const parts = (quota?.windows ?? []).flatMap(({ type, percent, resets_at }) =>
    percent === null ? [] : [`${WINDOW_NAMES[type] ?? type} ${Math.floor(percent)} % until ${formatReset(resets_at)}`],
  );
  return parts.length === 0 ? '' : `quota ${parts.join(', ')}`;
}

/** A time of day, with its date if that is not today. */
const formatReset = (iso: string): string =>
  new Date(iso).toDateString() === new Date().toDateString() ? formatClock(iso) : new Date(iso).toLocaleString();

/** A duration such as `3m 12s`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${seconds % 60}s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h ${minutes % 60}m` : `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** How long ago a time was. */
export const formatAge = (iso: string, now: number): string =>
  `${formatDuration(Math.max(0, now - Date.parse(iso)))} ago`;

const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hour12: false });

/** A time of day. Its formatter is made once: one for each row would be felt when a list is scrolled. */
export const formatClock = (iso: string): string => CLOCK.format(Date.parse(iso));

/** A status in words. */
export const formatStatus = (status: string): string => status.replaceAll('_', ' ');

/** One line about something that a turn said or did. */
export function describeEntry(entry: LogEntryDocument): string {
  switch (entry.kind) {
    case 'uses':
      return `${entry.tool} ${firstLine(entry.detail)}`;
    case 'gets':
      return `→ ${firstLine(entry.text)}`;
    case 'retries':
      return `the API failed (${entry.reason}); it is asked again`;
    case 'left_out':
      return '';
    default:
      return firstLine(entry.text);
  }
}

/** True for the output of a tool that failed and for stderr. */
export const isError = (entry: LogEntryDocument): boolean => 'is_error' in entry && entry.is_error;

/** Describes an event in one line. */
export function describeEvent(event: Readonly<Record<string, unknown>>): string {
  const text = (name: string): string => String(event[name] ?? '');
  switch (event.kind) {
    case 'run_started':
      return `run of ${text('workflow')} started`;
    case 'run_resumed':
      return 'run resumed';
    case 'run_ended':
      return `run ended: ${formatStatus(text('status'))}`;
    case 'agent_started':
      return `started in ${text('state')}`;
    case 'turn_started':
      return `${text('state')} begins${event.prompt === 'state' ? '' : ` (${text('prompt')})`}`;
    case 'turn_ended':
      return [
        `${text('state')} ${event.failure ? `failed: ${formatStatus(text('failure'))}` : 'answered'} after ${formatDuration(Number(event.duration_ms))}`,
        ...(Array.isArray(event.denials) && event.denials.length > 0 ? [`denied: ${event.denials.join(', ')}`] : []),
      ].join('; ');
    case 'cost_corrected':
      return `turn ${text('turn')} in ${text('state')} cost $${text('cost_usd')} instead of the estimate of $${text('former_usd')}`;
    case 'transition':
      return `${text('from')} → ${event.to === null ? 'end' : text('to')} (${text('tag')})`;
    case 'agent_ended':
      return `ended: ${firstLine(text('result'))}`;
    default:
      return [formatStatus(text('kind')), firstLine(text('message') || text('text'))].filter(Boolean).join(': ');
  }
}

const firstLine = (text: string): string => {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
};

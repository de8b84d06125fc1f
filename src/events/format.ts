import type { Activity } from '../core/activity.ts';
import type { Event } from '../core/event.ts';
import { microsToUsd } from '../core/ledger.ts';
import type { ObservedStatus } from '../core/observed-status.ts';
import { sanitizeLines } from './sanitize.ts';

/** An amount of money: to the cent, or with four digits if it is less than a cent. */
export function formatDollars(micros: number): string {
  const usd = microsToUsd(micros);
  return `$${usd.toFixed(usd !== 0 && Math.abs(usd) < 0.01 ? 4 : 2)}`;
}

/** `$1.20 of $5.00 ($0.10 estimated)`, without the parts that do not apply. */
export function formatSpending(spentMicros: number, budgetMicros: number | null, estimatedMicros = 0): string {
  const budget = budgetMicros === null ? '' : ` of ${formatDollars(budgetMicros)}`;
  const estimated = estimatedMicros === 0 ? '' : ` (${formatDollars(estimatedMicros)} estimated)`;
  return `${formatDollars(spentMicros)}${budget}${estimated}`;
}

/** `2026-01-15 14:30:22`, in local time. */
export function formatLocalTime(at: number): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString();
  return `${local.slice(0, 10)} ${local.slice(11, 19)}`;
}

/** A time as JSON documents have it: `2026-01-15T14:30:22.000Z`. */
export const formatIso = (at: number): string => new Date(at).toISOString();

/** `15:50:22`, or with its date if that is not today. */
export function formatTimeOfDay(at: number, now: number): string {
  const [day, time = ''] = formatLocalTime(at).split(' ');
  return formatLocalTime(now).startsWith(`${day} `) ? time : `${day} ${time}`;
}

/** `15:50`, or with its date if that is not today. */
export const formatClock = (at: number, now: number): string => formatTimeOfDay(at, now).slice(0, -':22'.length);

/** The time since something happened, in the largest unit that fits: `40s`, `12m`, `5h`, `3d`. */
export function formatAge(at: number, now: number): string {
  const seconds = Math.max(0, Math.floor((now - at) / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 48 * 3600 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

const SOON_MS = 120_000;

/** `in 4 s` for a time within two minutes, else `at 15:50`. */
const formatRetryTime = (at: number, now: number): string =>
  at - now < SOON_MS ? `in ${Math.max(1, Math.round((at - now) / 1000))} s` : `at ${formatClock(at, now)}`;

/** A duration that goes on: `0:42`, `12:03`, `1:02:03`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const two = (value: number): string => String(value).padStart(2, '0');
  return hours === 0 ? `${minutes}:${two(seconds % 60)}` : `${hours}:${two(minutes)}:${two(seconds % 60)}`;
}

/** A duration that is over: `4.2s`, or as above from ten seconds on. */
export const formatElapsed = (ms: number): string =>
  ms < 10_000 ? `${(Math.max(0, ms) / 1000).toFixed(1)}s` : formatDuration(ms);

/** A text as one argument of a shell command. */
export const quoteShellArgument = (text: string): string =>
  /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** The status of a run in words. */
export const formatObservedStatus = (status: ObservedStatus): string => status.replaceAll('_', ' ');

/** `1 turn`, `3 turns`. */
export const formatCount = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** A function for each kind of event; a kind without one does not compile. */
export type EventFormatters<Result> = {
  readonly [Kind in Event['kind']]: (event: Extract<Event, { kind: Kind }>) => Result;
};

/** Formats an event with the function for its kind. */
export const applyFormatter = <Result>(formatters: EventFormatters<Result>, event: Event): Result =>
  (formatters[event.kind] as (event: Event) => Result)(event);

const EVENT_FORMATTERS: EventFormatters<string | null> = {
  run_started: (event) => `run ${event.run}: ${event.workflow.path}`,
  run_resumed: () => 'the run goes on',
  run_stopping: ({ at, stop }) =>
    stop.kind === 'usage_limit'
      ? `${stripPeriod(stop.message)}; nothing new is started, a resume after ${formatClock(stop.untilMs, at)} goes on`
      : `nothing new is started: ${STOP_REASONS[stop.kind]}`,
  run_ended: ({ status, spentMicros }) => `the run has ended: ${status}, ${formatDollars(spentMicros)}`,
  agent_started: ({ parent, state }) => (parent === null ? null : `forked by ${parent}, starts in ${state}`),
  turn_started: ({ state, prompt, turn }) => (prompt === 'state' ? `${state}` : `${state} (${prompt}, turn ${turn})`),
  turn_ended: ({ denials }) =>
    denials.length === 0
      ? null
      : `warning: not permitted: ${[...new Set(denials)].join(', ')}; allowed_tools or --permission-mode would allow it`,
  transition: ({ state, to, tag, implicit, costMicros }) =>
    `${state} → ${to ?? 'end'} (${tag}${implicit ? ', implicit' : ''}) ${formatDollars(costMicros)}`,
  reminded: ({ state, message, count, limit }) => `${state}: reminder ${count} of ${limit}: ${message}`,
  sleeping: ({ at, untilMs, why, message }) =>
    why === 'retry'
      ? `${stripPeriod(message)}; tried again ${formatRetryTime(untilMs, at)}`
      : `${stripPeriod(message)}; waiting until ${formatClock(untilMs, at)}`,
  woken: () => null,
  session_lost: ({ session, next, message }) =>
    `session ${session} cannot be resumed (${stripPeriod(message)}); ${next === 'fork' ? 'it is forked' : 'a new one is started'}`,
  answer_withheld: ({ state }) => `${state}: the budget is used up; the answer is kept for a resume`,
  visit_limit: ({ state, maxVisits }) => `${state} was entered ${maxVisits} times, as often as max_visits allows`,
  agent_paused: ({ message }) => `paused: ${message}`,
  agent_failed: ({ message }) => `failed: ${message}`,
  agent_ended: () => null,
  agent_resumed: ({ state }) => `taken up again in ${state}`,
  warning: ({ message }) => `warning: ${message}`,
};

const STOP_REASONS = {
  budget: 'the budget is used up; a resume with a higher --budget goes on',
  iterations: 'the limit of iterations is reached; a resume with a higher --max-iterations goes on',
  stopped: 'the run was told to stop',
  interrupted: 'interrupted',
} as const;

/** A message without its full stop, to be continued. */
const stripPeriod = (message: string): string => message.replace(/\.$/, '');

/** An event as one or more plain lines, each labelled with its agent; null if it is not worth a line. */
export function formatEvent(event: Event): string | null {
  const text = applyFormatter(EVENT_FORMATTERS, event);
  if (text === null) return null;
  const label = 'agent' in event ? `[${event.agent}] ` : '';
  return sanitizeLines(text)
    .map((line, index) => `${label}${index === 0 ? '' : '  '}${line}`)
    .join('\n');
}

/** An agent's activity as plain lines, each labelled with the agent: `|` before text, `>` before tools. */
export function formatActivity({ agent, doing }: Activity): readonly string[] {
  const [sign, text] = doing.kind === 'uses' ? ['>', `${doing.tool} ${doing.detail}`] : ['|', doing.text];
  return sanitizeLines(text).map((line) => `[${agent}] ${sign} ${line}`);
}

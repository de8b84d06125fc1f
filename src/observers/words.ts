import type { Activity } from '../core/activity.ts';
import type { Event } from '../core/event.ts';
import { usdOf } from '../core/ledger.ts';
import { linesOf } from './harmless.ts';

/** An amount of money as people read it: to the cent, and with more digits only where it is less than that. */
export function dollars(micros: number): string {
  const usd = usdOf(micros);
  return `$${usd.toFixed(usd !== 0 && Math.abs(usd) < 0.01 ? 4 : 2)}`;
}

/** `2026-01-15 14:30:22`, by the clock on the wall. */
export function localTime(at: number): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString();
  return `${local.slice(0, 10)} ${local.slice(11, 19)}`;
}

/** `15:50`, or with its date if that is not today. */
export function clock(at: number, now: number): string {
  const [day, time = ''] = localTime(at).split(' ');
  const [today] = localTime(now).split(' ');
  return day === today ? time.slice(0, 5) : `${day} ${time.slice(0, 5)}`;
}

const SOON_MS = 120_000;

/** `in 4 s` for what is soon, else `at 15:50`. */
const moment = (at: number, now: number): string =>
  at - now < SOON_MS ? `in ${Math.max(1, Math.round((at - now) / 1000))} s` : `at ${clock(at, now)}`;

/** `0:42`, `12:03`, `1:02:03`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const two = (value: number): string => String(value).padStart(2, '0');
  return hours === 0 ? `${minutes}:${two(seconds % 60)}` : `${hours}:${two(minutes)}:${two(seconds % 60)}`;
}

/** The same for something that is over: what took seconds is told more exactly. */
export const took = (ms: number): string => (ms < 10_000 ? `${(Math.max(0, ms) / 1000).toFixed(1)}s` : duration(ms));

/** `1 turn`, `3 turns`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

type Teller = { readonly [Kind in Event['kind']]: (event: Extract<Event, { kind: Kind }>) => string | null };

const TELL: Teller = {
  run_started: (event) => `run ${event.run}: ${event.workflow.path}`,
  run_resumed: () => 'the run goes on',
  run_stopping: ({ at, stop }) =>
    stop.kind === 'usage_limit'
      ? `${clause(stop.message)}; nothing new is started, a resume after ${clock(stop.untilMs, at)} goes on`
      : `nothing new is started: ${STOPS[stop.kind]}`,
  run_ended: ({ status, spentMicros }) => `the run has ended: ${status}, ${dollars(spentMicros)}`,
  agent_started: ({ parent, state }) => (parent === null ? null : `forked by ${parent}, starts in ${state}`),
  turn_started: ({ state, prompt, turn }) => (prompt === 'state' ? `${state}` : `${state} (${prompt}, turn ${turn})`),
  turn_ended: ({ denials }) =>
    denials.length === 0
      ? null
      : `warning: not permitted: ${[...new Set(denials)].join(', ')}; allowed_tools or --permission-mode would allow it`,
  transition: ({ state, to, tag, implicit, costMicros }) =>
    `${state} → ${to ?? 'end'} (${tag}${implicit ? ', implicit' : ''}) ${dollars(costMicros)}`,
  reminded: ({ state, message, count, limit }) => `${state}: reminder ${count} of ${limit}: ${message}`,
  sleeping: ({ at, untilMs, why, message }) =>
    why === 'retry'
      ? `${clause(message)}; tried again ${moment(untilMs, at)}`
      : `${clause(message)}; waiting until ${clock(untilMs, at)}`,
  woken: () => null,
  session_lost: ({ session, next, message }) =>
    `session ${session} cannot be resumed (${clause(message)}); ${next === 'fork' ? 'it is forked' : 'a new one is started'}`,
  answer_withheld: ({ state }) => `${state}: the budget is used up; the answer is kept for a resume`,
  visit_limit: ({ state, maxVisits }) => `${state} was entered ${maxVisits} times, as often as max_visits allows`,
  agent_paused: ({ message }) => `paused: ${message}`,
  agent_failed: ({ message }) => `failed: ${message}`,
  agent_ended: () => null,
  agent_resumed: ({ state }) => `taken up again in ${state}`,
  warning: ({ message }) => `warning: ${message}`,
};

const STOPS = {
  budget: 'the budget is used up; a resume with a higher --budget goes on',
  iterations: 'the limit of iterations is reached; a resume with a higher --max-iterations goes on',
  stopped: 'the run was told to stop',
  interrupted: 'interrupted',
} as const;

/** A sentence that is gone on with. */
const clause = (message: string): string => message.replace(/\.$/, '');

/** An event as a plain line, labelled with its agent; null if it is not worth one. Some take several lines: each is labelled. */
export function lineOf(event: Event): string | null {
  const tell = TELL[event.kind] as (event: Event) => string | null;
  const words = tell(event);
  if (words === null) return null;
  const label = 'agent' in event ? `[${event.agent}] ` : '';
  return linesOf(words)
    .map((line, index) => `${label}${index === 0 ? '' : '  '}${line}`)
    .join('\n');
}

/** What an agent does at this moment as plain lines, each labelled: `|` before words, `>` before tools. */
export function linesAbout({ agent, doing }: Activity): readonly string[] {
  const [sign, text] = doing.kind === 'uses' ? ['>', `${doing.tool} ${doing.detail}`] : ['|', doing.text];
  return linesOf(text).map((line) => `[${agent}] ${sign} ${line}`);
}

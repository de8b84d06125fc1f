import type { JoinProgress } from '../core/joins/join-progress.ts';
import { isReplay } from '../core/options/option-types.ts';
import type { Event, TurnEnded } from '../core/run/event.ts';
import { microsToUsd } from '../core/run/ledger.ts';
import type { ObservedStatus } from '../core/run/observed-status.ts';
import { countTokens, sumTokens, type Tokens } from '../core/run/tokens.ts';
import type { Joined } from '../core/run/worker-event.ts';
import { formatWorkspace } from '../core/run/workspace.ts';
import type { TurnWait } from '../core/turns/turn-wait.ts';
import type { FollowedTag, TransitionChoice } from '../language/tags/followed-tag.ts';
import { formatDelivery, formatInterruption, formatSaid } from './format-said.ts';
import { formatFollowedTags } from './format-tags.ts';
import { formatWorkspaceLeft, formatWorktreeLeft } from './format-worktree.ts';
import { formatQuotaWindows, isQuotaWorthALine } from './quota.ts';
import { sanitizeLines, sanitizeShortLine } from './sanitize.ts';

/** An amount of money: to the cent, or with four digits if it is less than a cent. */
export function formatDollars(micros: number): string {
  const usd = microsToUsd(micros);
  return `$${usd.toFixed(usd !== 0 && Math.abs(usd) < 0.01 ? 4 : 2)}`;
}

/** The amount spent, the estimated and canned parts of it, and the budget. */
export interface Spending {
  readonly spentMicros: number;
  readonly estimatedMicros?: number;
  readonly cannedMicros?: number;
  readonly budgetMicros?: number | null;
}

/** `$1.20 of $5.00 ($0.10 estimated)`, without the parts that do not apply; `canned` is what nobody paid. */
export function formatSpending({
  spentMicros,
  estimatedMicros = 0,
  cannedMicros = 0,
  budgetMicros = null,
}: Spending): string {
  const budget = budgetMicros === null ? '' : ` of ${formatDollars(budgetMicros)}`;
  const isAllCanned = cannedMicros > 0 && cannedMicros >= spentMicros;
  const notes = isAllCanned
    ? ['canned']
    : [
        ...(estimatedMicros === 0 ? [] : [`${formatDollars(estimatedMicros)} estimated`]),
        ...(cannedMicros === 0 ? [] : [`${formatDollars(cannedMicros)} canned`]),
      ];
  return `${formatDollars(spentMicros)}${budget}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`;
}

/** A number in few characters: `950`, `1.2k`, `45k`, `1.3M`. */
export function formatShortCount(count: number): string {
  const [unit, size] = UNITS.find(([, smallest]) => count >= smallest * 0.9995) ?? ['', 1];
  const value = count / size;
  return `${size === 1 || value >= 9.95 ? Math.round(value) : value.toFixed(1)}${unit}`;
}

const UNITS = [
  ['T', 1e12],
  ['B', 1e9],
  ['M', 1e6],
  ['k', 1e3],
] as const;

/** `1.3M tokens`, all kinds together. */
export const formatTokens = (tokens: Tokens): string => {
  const count = countTokens(tokens);
  return `${formatShortCount(count)} ${count === 1 ? 'token' : 'tokens'}`;
};

/** `1.2k in, 340 out, 56k cache read, 7.8k cache written`. */
export const formatTokenKinds = ({ input, output, cacheRead, cacheWrite }: Tokens): string =>
  [
    `${formatShortCount(input)} in`,
    `${formatShortCount(output)} out`,
    `${formatShortCount(cacheRead)} cache read`,
    `${formatShortCount(cacheWrite)} cache written`,
  ].join(', ');

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

/** A duration that continues: `0:42`, `12:03`, `1:02:03`. */
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
export function quoteShellArgument(text: string): string {
  if (/^[\w./:@%+=,-]+$/.test(text)) return text;
  if (process.platform === 'win32') return /^[\w.\\/:@+=-]+$/.test(text) ? text : `"${text.replaceAll('"', '\\"')}"`;
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The status of a run in words. */
export const formatObservedStatus = (status: ObservedStatus): string => status.replaceAll('_', ' ');

/** `1 turn`, `3 turns`. */
export const formatCount = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Describes the reason why agents wait for a turn. */
export const TURN_WAIT_WORDS: Readonly<Record<TurnWait, string>> = {
  hold: 'Claude to be available',
  place: 'a free place',
  budget: 'a share of the budget',
  scripts: 'other scripts (--parallel-scripts)',
};

/** A function for each kind of event; a kind without one does not compile. */
export type EventFormatters<Result> = {
  readonly [Kind in Event['kind']]: (event: Extract<Event, { kind: Kind }>) => Result;
};

/** Formats an event with the function for its kind. */
export const applyFormatter = <Result>(formatters: EventFormatters<Result>, event: Event): Result =>
  (formatters[event.kind] as (event: Event) => Result)(event);

const EVENT_FORMATTERS: EventFormatters<string | null> = {
  run_started: ({ run, workflow, options }) =>
    `run ${run}: ${workflow.path}${isReplay(options) ? ', with canned answers: nothing is paid' : ''}`,
  run_resumed: () => 'the run is resumed',
  run_stopping: ({ at, stop }) =>
    stop.kind === 'usage_limit'
      ? `${stripPeriod(stop.message)}; nothing new is started, a resume after ${formatClock(stop.untilMs, at)} continues`
      : stop.kind === 'workspace'
        ? `the run pauses: ${stop.message}`
        : `nothing new is started: ${STOP_REASONS[stop.kind]}`,
  run_ended: ({ status, tokens, ...spending }) =>
    [`the run has ended: ${status}`, formatSpending(spending), ...formatAnyTokens(tokens)].join(', '),
  run_waiting: ({ waitsFor }) => (waitsFor === null ? 'the run continues' : `the run waits for ${waitsFor}`),
  agent_started: ({ parent, state }) => (parent === null ? null : `forked by ${parent}, starts in ${state}`),
  turn_started: ({ state, evaluator, prompt, turn }) =>
    `${evaluator === null ? state : `${evaluator} evaluates ${state}`}${prompt === 'state' ? '' : ` (${prompt}, turn ${turn})`}`,
  turn_ended: ({ denials }) =>
    denials.length === 0
      ? null
      : `warning: not permitted: ${[...new Set(denials)].join(', ')}; allowed_tools or --permission-mode would allow it`,
  printed: ({ text }) => text,
  transition: ({ state, to, tag, implicit, guard, choice, requested, costMicros, tokens }) => {
    const isImplicit = implicit && choice.by === 'answer';
    const how = guard === undefined ? `${tag}${isImplicit ? ', implicit' : ''}` : `on ${guard.outcome}`;
    const spent = [formatDollars(costMicros), ...formatAnyTokens(tokens)].join(', ');
    const why = guard === undefined ? formatOverride(choice, requested) : `: ${guard.message}`;
    return `${state} → ${to ?? 'end'} (${how}) ${spent}${why}`;
  },
  evaluated: ({ evaluator, verdict, transition, why }) =>
    verdict === 'confirmed' ? `${evaluator} confirms ${transition}${formatReason(why)}` : null,
  reminded: ({ state, evaluator, message, count, limit }) =>
    `${evaluator ?? state}: reminder ${count} of ${limit}: ${message}`,
  sleeping: ({ at, untilMs, why, message }) =>
    why === 'retry'
      ? `${stripPeriod(message)}; tried again ${formatRetryTime(untilMs, at)}`
      : `${stripPeriod(message)}; waiting until ${formatClock(untilMs, at)}`,
  woken: () => null,
  session_lost: ({ session, next, message }) =>
    `session ${session} cannot be resumed (${stripPeriod(message)}); ${next === 'fork' ? 'it is forked' : 'a new one is started'}`,
  asked: ({ at, ask, question, untilMs }) =>
    `asks (${ask}): ${question.text}${untilMs === null ? '' : `\nwithout an answer it ${question.timeoutNext === null ? 'is denied' : `continues in ${question.timeoutNext}`} at ${formatClock(untilMs, at)}`}`,
  ask_answered: ({ ask, by, text }) => `${ask} is answered by ${by}: ${text}`,
  ask_timed_out: ({ ask, state }) => `${state}: nobody answered ${ask} in time`,
  ask_closed: () => null,
  said: formatSaid,
  said_delivered: formatDelivery,
  turn_interrupted: formatInterruption,
  answer_withheld: ({ state, requested }) =>
    `${state}: the budget is used up; the answer is kept for a resume${requested.length === 0 ? '' : ` (it asks for ${formatFollowedTags(requested)})`}`,
  visit_limit: ({ state, maxVisits }) => `${state} was entered ${maxVisits} times, as often as max_visits allows`,
  agent_paused: ({ message }) => `paused: ${message}`,
  agent_failed: ({ message }) => `failed: ${message}`,
  agent_ended: () => null,
  agent_resumed: ({ state }) => `taken up again in ${state}`,
  worktree_opening: () => null,
  worktree_leaving: () => null,
  worktree_opened: ({ branch }) => `works in a worktree on ${branch}`,
  worktree_left: (event) => formatWorktreeLeft(event),
  worktree_discarded: ({ path, branch }) => `its worktree ${path} was discarded, with the branch ${branch}`,
  workspace_opening: (source) => `opens its clone of ${formatWorkspace(source)}`,
  workspace_opened: ({ path, branch }) => `works in the clone ${path} on the branch ${branch}`,
  workspace_leaving: () => null,
  workspace_left: (event) => formatWorkspaceLeft(event),
  rehomed: ({ from, to }) => `the worker ${from} is gone: continues at ${to}`,
  cost_corrected: ({ state, turn, formerMicros, costMicros, estimated }) =>
    `turn ${turn} in ${state} cost ${formatDollars(costMicros)}${estimated ? ' by an estimate' : ''}: its worker is back, and ${formatDollars(formerMicros)} were entered before`,
  joining: (event) => (event.done >= event.wanted ? null : formatJoinWait(event, event.at)),
  joined: (event) => formatJoined(event),
  cancelling: ({ by }) => `cancelled by the join of ${by}: its turn is ended`,
  agent_cancelled: ({ by }) => `cancelled by the join of ${by}`,
  quota: ({ at, quota, parallel }) => {
    if (quota === null || !isQuotaWorthALine(quota)) return null;
    const windows = formatQuotaWindows(quota, (ms) => formatClock(ms, at)).join(', ');
    return `quota: ${windows}${parallel === null ? '' : `; at most ${formatCount(parallel, 'Claude turn')} at once`}`;
  },
  warning: ({ message }) => `warning: ${message}`,
};

/** The evaluator or guard that overrode the answer, and why; empty for none. */
function formatOverride({ by, name, why }: TransitionChoice, requested: readonly FollowedTag[]): string {
  if (by === 'answer') return '';
  const asked = requested.length === 0 ? '' : ` instead of ${formatFollowedTags(requested)}`;
  return `\n${name ?? by} decided so${asked}${formatReason(why)}`;
}

const formatReason = (why: string | null): string => (why === null ? '' : `: ${why}`);

/** The width of the name of a group: wider ones are cut. */
const MAX_GROUP_COLUMNS = 24;

/** Describes the condition of a join: `waits for 3 of 5 workers of the group docs, until 15:50`. */
export function formatJoinWait(
  { workers, done, wanted, group, untilMs }: Pick<JoinProgress, 'workers' | 'done' | 'wanted' | 'group' | 'untilMs'>,
  now: number,
): string {
  const until = untilMs === null ? '' : `, until ${formatClock(untilMs, now)}`;
  const ofGroup = group === null ? '' : ` of the group ${sanitizeShortLine(group, MAX_GROUP_COLUMNS)}`;
  return `waits for ${Math.max(0, wanted - done)} of ${formatCount(workers, 'worker')}${ofGroup}${until}`;
}

/** `joined 5 workers: 4 ended, 1 failed; continues in MERGE.md`. */
export function formatJoined({ to, timedOut, workers, left }: Joined): string {
  const count = Object.values(workers).reduce((sum, each) => sum + each, 0);
  const kinds = Object.entries(workers).flatMap(([how, each]) =>
    each === 0 ? [] : [`${each} ${how === 'limited' ? 'stopped by max_visits' : how}`],
  );
  const rest = left === 0 ? '' : `, ${left} still at work`;
  const why = timedOut ? 'waited long enough, and joined' : 'joined';
  return `${why} ${formatCount(count, 'worker')}${kinds.length === 0 ? '' : ` (${kinds.join(', ')})`}${rest}; continues in ${to}`;
}

/** The cost and use of a turn: `$0.12, 5.3k tokens`; empty for a script. */
export function listTurnSpending({ session, costMicros, estimated, canned, models }: TurnEnded): readonly string[] {
  if (session === null) return [];
  const estimatedMicros = estimated ? costMicros : 0;
  const cannedMicros = canned ? costMicros : 0;
  const spending = formatSpending({ spentMicros: costMicros, estimatedMicros, cannedMicros });
  return [spending, ...formatAnyTokens(sumTokens(models))];
}

/** The tokens in words, if there are any. */
export const formatAnyTokens = (tokens: Tokens): readonly string[] =>
  countTokens(tokens) === 0 ? [] : [formatTokens(tokens)];

const STOP_REASONS = {
  budget: 'the budget is used up; a resume with a higher --budget continues',
  iterations: 'the limit of iterations is reached; a resume with a higher --max-iterations continues',
  stopped: 'the run was told to stop',
  interrupted: 'interrupted',
} as const;

/** A message without its full stop, to be continued. */
const stripPeriod = (message: string): string => message.replace(/\.$/, '');

/** The label of an agent, by its id. */
type LabelOf = (id: string) => string;

const asIs: LabelOf = (id) => id;

/** An event as one or more plain lines, each labelled with its agent; null if it is not worth a line. */
export function formatEvent(event: Event, labelOf: LabelOf = asIs): string | null {
  const text = applyFormatter(EVENT_FORMATTERS, event);
  if (text === null) return null;
  const label = 'agent' in event ? `[${labelOf(event.agent)}] ` : '';
  return sanitizeLines(text)
    .map((line, index) => `${label}${index === 0 ? '' : '  '}${line}`)
    .join('\n');
}

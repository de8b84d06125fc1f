import type { StopReason } from '../../../core/run/run.ts';
import {
  formatAnyTokens,
  formatClock,
  formatCount,
  formatDuration,
  formatSpending,
  TURN_WAIT_WORDS,
} from '../../format.ts';
import { formatShortQuota } from '../../quota.ts';
import { sanitizeLine } from '../../sanitize.ts';
import { wrapText } from '../../text-width.ts';
import { computeWorkMs } from '../../work-time.ts';
import { type AgentGroups, countedAs } from './agent-groups.ts';
import type { LiveContext } from './agent-lines.ts';
import type { LiveView } from './view.ts';

/** The lines below the agents: time, cost and counts; what agents wait for; how far a stop has come. */
export function renderFooter(
  view: LiveView,
  groups: AgentGroups,
  { now, columns, colorize }: LiveContext,
  /** True if questions can be answered here; null while that is done. */
  canAnswer: boolean | null,
): readonly string[] {
  const figures = [
    `${formatDuration(computeWorkMs(view.worked, now))} `,
    `${formatSpending(view)} `,
    ...formatAnyTokens(view.tokens).map((text) => `${text} `),
    ...formatQuotaFigures(view),
    ...formatAgentCounts(view, groups),
  ];
  const unbroken = figures.map((figure) => figure.replaceAll(' ', NO_BREAK)).join(' ');
  return [
    ...wrapText(unbroken, columns).map((line) => colorize('dim', line.replaceAll(NO_BREAK, ' ').trimEnd())),
    ...[
      view.waitsFor === null ? null : `the run waits for ${view.waitsFor}`,
      formatQuestions(groups, canAnswer),
      formatApiFailure(groups),
      formatWaiting(groups, now),
      CLONE_PHRASES[view.clone ?? 'none'],
      formatStopping(view, groups.running),
    ]
      .filter((line) => line !== null)
      .flatMap((line) => wrapText(line, columns).map((part) => colorize('yellow', part))),
  ];
}

const NO_BREAK = '\u00a0';

/** `quota 5h 83 % 7d 31 %,` `4 at once`: what is used of the subscription, and how many Claude turns that leaves. */
function formatQuotaFigures({ quota, loweredParallel }: LiveView): readonly string[] {
  const used = formatShortQuota(quota);
  if (used === null) return [];
  return loweredParallel === null ? [`${used} `] : [`${used},`, `${loweredParallel} at once `];
}

/**
 * `37 of 100 done,` `8 running,` `55 waiting`: parts between which a line may be broken. Where there are workers, only they
 * are counted, so that the numbers add up; the main agent has a line of its own.
 */
function formatAgentCounts({ agents, workers, endedWorkers }: LiveView, groups: AgentGroups): readonly string[] {
  const { running, waiting, failed, paused } = groups;
  const main = workers > 0 ? agents.get('main') : undefined;
  const mainCounts = main === undefined ? null : countedAs(main.phase);
  const counts = Object.entries({ running, waiting, failed, paused })
    .map(([what, count]) => [what, what === mainCounts ? count - 1 : count] as const)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${count} ${what}`);
  const all = [...(workers > 0 ? [`${endedWorkers} of ${workers} done`] : []), ...counts];
  return all.map((part, index) => (index < all.length - 1 ? `${part},` : part));
}

/** That a person is asked, and how to answer; null if nobody is. */
function formatQuestions({ asking }: AgentGroups, canAnswer: boolean | null): string | null {
  if (asking.length === 0 || canAnswer === null) return null;
  const wait = `${formatCount(asking.length, 'question')} ${asking.length === 1 ? 'waits' : 'wait'} for you`;
  return `${wait}: ${canAnswer ? 'press a to answer' : 'raymond asks'}`;
}

/** The line about several agents that wait for the API; null if it is not worth one. */
function formatApiFailure({ live }: AgentGroups): string | null {
  const reasons = live.flatMap(({ doing }) => (doing?.kind === 'retries' ? [doing.reason] : []));
  // The line of a single agent says it already.
  if (reasons.length < 2) return null;
  return `${reasons.length} agents are retrying: ${[...new Set(reasons)].slice(0, MAX_REASONS).join(', ')}`;
}

const MAX_REASONS = 3;

/** The line about what agents wait for and how much longer; null if it is not worth one. */
function formatWaiting({ live, running, sleepers, turnWaits }: AgentGroups, now: number): string | null {
  const waits = sleepers.flatMap(({ wait }) => wait ?? []);
  const [limit, ...limits] = waits.filter(({ why }) => why === 'usage_limit');
  if (limit !== undefined) {
    const { untilMs, message } = limits.reduce(
      (latest, each) => (each.untilMs > latest.untilMs ? each : latest),
      limit,
    );
    return `waiting until ${formatClock(untilMs, now)}, ${formatDuration(untilMs - now)} left: ${sanitizeLine(message)}`;
  }
  // The line of a single agent says it already.
  if (live.length - running < 2) return null;
  const retry = waits.reduce((first, { untilMs }) => Math.min(first, untilMs), Number.POSITIVE_INFINITY);
  const parts = [
    ...Array.from(turnWaits, ([turnWait, count]) => `${count} for ${TURN_WAIT_WORDS[turnWait]}`),
    ...(waits.length > 0 ? [`${waits.length} to try again in ${formatDuration(retry - now)}`] : []),
  ];
  return parts.length === 0 ? null : `waiting: ${parts.join(', ')}`;
}

const CLONE_PHRASES = {
  opening: 'the repository is being cloned',
  leaving: 'the branch of the run is being pushed',
  none: null,
} as const;

const STOP_PHRASES: Record<StopReason['kind'], string> = {
  budget: 'the budget is used up',
  iterations: 'the limit of iterations is reached',
  usage_limit: 'the usage limit is reached',
  workspace: 'the clone of the run cannot be used',
  stopped: 'told to stop',
  interrupted: 'interrupted',
};

/** After a stop: what it still waits for, and what another Ctrl-C would do. */
function formatStopping({ stop, interrupts }: LiveView, running: number): string | null {
  const turns = formatCount(running, 'turn');
  if (interrupts > 1) return `ending ${turns}`;
  if (stop === null && interrupts === 0) return null;
  const why = STOP_PHRASES[stop?.kind ?? 'interrupted'];
  return `${why}: waiting for ${turns} to end; Ctrl-C ${interrupts > 0 ? 'again ' : ''}ends ${turns === '1 turn' ? 'it' : 'them'} now`;
}

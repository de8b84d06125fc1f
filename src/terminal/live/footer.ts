import type { StopReason } from '../../core/run.ts';
import { formatClock, formatCount, formatDuration, formatSpending } from '../../events/format.ts';
import { wrapText } from '../../events/text-width.ts';
import { computeWorkMs } from '../../events/work-time.ts';
import type { LiveContext } from './agent-lines.ts';
import type { AgentView, LiveView } from './view.ts';

/** The lines below the agents: time, cost and counts; what agents wait for; how far a stop has come. */
export function renderFooter(view: LiveView, { now, columns, colorize }: LiveContext): readonly string[] {
  const agents = [...view.agents.values()];
  const figures = [
    `${formatDuration(computeWorkMs(view.worked, now))} `,
    `${formatSpending(view.spentMicros, view.budgetMicros)} `,
    ...formatAgentCounts(agents, view.ended),
  ];
  const unbroken = figures.map((figure) => figure.replaceAll(' ', NO_BREAK)).join(' ');
  return [
    ...wrapText(unbroken, columns).map((line) => colorize('dim', line.replaceAll(NO_BREAK, ' ').trimEnd())),
    ...[formatWaiting(agents, now), formatStopping(view, agents)]
      .filter((line) => line !== null)
      .flatMap((line) => wrapText(line, columns).map((part) => colorize('yellow', part))),
  ];
}

const NO_BREAK = '\u00a0';

/** `3 live (1 waiting),` `2 ended,` `1 failed`: parts between which a line may be broken. */
function formatAgentCounts(agents: readonly AgentView[], ended: number): readonly string[] {
  const count = (...phases: AgentView['phase'][]): number =>
    agents.filter(({ phase }) => phases.includes(phase)).length;
  const waiting = count('ready', 'sleeping');
  const live = count('running') + waiting;
  const rest = [
    [ended, 'ended'],
    [count('failed'), 'failed'],
    [count('paused', 'limited', 'withheld'), 'paused'],
  ] as const;
  const others = rest.filter(([number]) => number > 0).map(([number, what]) => `${number} ${what}`);
  const all = [`${live} live${waiting > 0 && live > 1 ? ` (${waiting} waiting)` : ''}`, ...others];
  return all.map((part, index) => (index < others.length ? `${part},` : part));
}

/** What agents wait for, and for how long still; null if it is not worth a line. */
function formatWaiting(agents: readonly AgentView[], now: number): string | null {
  const waits = agents.flatMap(({ wait }) => wait ?? []);
  const limits = waits.filter(({ why }) => why === 'usage_limit').map(({ untilMs }) => untilMs);
  if (limits.length > 0) {
    const until = Math.max(...limits);
    return `usage limit: waiting until ${formatClock(until, now)}, ${formatDuration(until - now)} left`;
  }
  if (waits.length < 2 || agents.some(({ phase }) => phase === 'running')) return null;
  return `waiting to try again: ${formatDuration(Math.min(...waits.map(({ untilMs }) => untilMs)) - now)} left`;
}

const STOP_PHRASES: Record<StopReason['kind'], string> = {
  budget: 'the budget is used up',
  iterations: 'the limit of iterations is reached',
  usage_limit: 'the usage limit is reached',
  stopped: 'told to stop',
  interrupted: 'interrupted',
};

/** After a stop: what it still waits for, and what another Ctrl-C would do. */
function formatStopping({ stop, interrupts }: LiveView, agents: readonly AgentView[]): string | null {
  const turns = formatCount(agents.filter(({ phase }) => phase === 'running').length, 'turn');
  if (interrupts > 1) return `ending ${turns}`;
  if (stop === null && interrupts === 0) return null;
  const why = STOP_PHRASES[stop?.kind ?? 'interrupted'];
  return `${why}: waiting for ${turns} to end; Ctrl-C ${interrupts > 0 ? 'again ' : ''}ends ${turns === '1 turn' ? 'it' : 'them'} now`;
}

import type { Stop } from '../../core/run.ts';
import { wrapped } from '../fit.ts';
import { clock, counted, dollars, duration } from '../words.ts';
import { workedMs } from '../worked.ts';
import type { Pen } from './agent-lines.ts';
import type { AgentView, View } from './view.ts';

/** What stands under the agents: time, money and heads; what everybody waits for; how a stop is getting on. */
export function footerLines(view: View, { now, columns, dye }: Pen): readonly string[] {
  const agents = [...view.agents.values()];
  const figures = [`${duration(workedMs(view.worked, now))} `, `${money(view)} `, ...heads(agents, view.ended)];
  const unbroken = figures.map((figure) => figure.replaceAll(' ', NO_BREAK)).join(' ');
  return [
    ...wrapped(unbroken, columns).map((line) => dye('dim', line.replaceAll(NO_BREAK, ' ').trimEnd())),
    ...[waiting(agents, now), stopping(view, agents)]
      .filter((line) => line !== null)
      .flatMap((line) => wrapped(line, columns).map((part) => dye('yellow', part))),
  ];
}

const NO_BREAK = '\u00a0';

const money = ({ spentMicros, budgetMicros }: View): string =>
  budgetMicros === null ? dollars(spentMicros) : `${dollars(spentMicros)} of ${dollars(budgetMicros)}`;

/** `3 live (1 waiting),` `2 ended,` `1 failed`. */
function heads(agents: readonly AgentView[], ended: number): readonly string[] {
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

/** The reason that holds most agents up, and how long it still will. */
function waiting(agents: readonly AgentView[], now: number): string | null {
  const waits = agents.flatMap(({ wait }) => wait ?? []);
  const limits = waits.filter(({ why }) => why === 'usage_limit').map(({ untilMs }) => untilMs);
  if (limits.length > 0) {
    const until = Math.max(...limits);
    return `usage limit: waiting until ${clock(until, now)}, ${duration(until - now)} left`;
  }
  if (waits.length < 2 || agents.some(({ phase }) => phase === 'running')) return null;
  return `waiting to try again: ${duration(Math.min(...waits.map(({ untilMs }) => untilMs)) - now)} left`;
}

const REASONS: Record<Stop['kind'], string> = {
  budget: 'the budget is used up',
  iterations: 'the limit of iterations is reached',
  usage_limit: 'the usage limit is reached',
  stopped: 'told to stop',
  interrupted: 'interrupted',
};

/** After a stop: what is still waited for, and what another Ctrl-C would do. */
function stopping({ stop, interrupts }: View, agents: readonly AgentView[]): string | null {
  const turns = counted(agents.filter(({ phase }) => phase === 'running').length, 'turn');
  if (interrupts > 1) return `ending ${turns}`;
  if (stop === null && interrupts === 0) return null;
  const why = REASONS[stop?.kind ?? 'interrupted'];
  return `${why}: waiting for ${turns} to end; Ctrl-C ${interrupts > 0 ? 'again ' : ''}ends ${turns === '1 turn' ? 'it' : 'them'} now`;
}

import type { Agent } from '../core/agent.ts';
import { microsToUsd } from '../core/ledger.ts';
import type { Run } from '../core/run.ts';
import { formatClock, formatCount, formatDollars } from './format.ts';

/** The command that goes on with a run; null if it has ended with a result for every agent. */
export function formatResumeCommand(run: Run): string | null {
  if (run.status === 'completed') return null;
  const { stop, options, ledger } = run;
  const args = ['raymond', 'resume', run.id];
  if (stop?.kind === 'budget') args.push('--budget', higherBudget(options.budgetMicros ?? 0, ledger.spentMicros));
  if (stop?.kind === 'iterations') args.push('--max-iterations', String(2 * (options.maxIterations ?? 1)));
  if (run.agents.some(needsRetry)) args.push('--retry');
  return args.join(' ');
}

/** Why a run did not come to its end, a sentence for each reason. Agents with the same trouble share one. */
export function describeUnfinished(run: Run, now: number): readonly string[] {
  const stop = describeStop(run, now);
  const troubles = new Map<string, string[]>();
  for (const agent of run.agents) {
    const trouble = describeTrouble(agent);
    if (trouble !== null) troubles.set(trouble, [...(troubles.get(trouble) ?? []), agent.id]);
  }
  return [
    ...(stop === null ? [] : [stop]),
    ...Array.from(troubles, ([trouble, ids]) => `[${abbreviateIds(ids)}] ${trouble}`),
  ];
}

/** A plain resume would leave such an agent as it is. */
const needsRetry = ({ phase }: Agent): boolean =>
  phase.kind === 'failed' || (phase.kind === 'paused' && phase.why === 'interrupted');

function describeStop({ stop, options, ledger }: Run, now: number): string | null {
  switch (stop?.kind) {
    case 'budget':
      return `The budget of ${formatDollars(options.budgetMicros ?? 0)} is used up: ${formatDollars(ledger.spentMicros)} are spent.`;
    case 'iterations':
      return `The limit of ${formatCount(options.maxIterations ?? 0, 'iteration')} is reached.`;
    case 'usage_limit':
      return `${stop.message} It ends at ${formatClock(stop.untilMs, now)}.`;
    case 'stopped':
      return 'It was told to stop.';
    default:
      return null;
  }
}

function describeTrouble({ phase, state }: Agent): string | null {
  switch (phase.kind) {
    case 'failed':
    case 'paused':
      return `${phase.kind}: ${phase.message}`;
    case 'limited':
      return `${state} was entered ${formatCount(phase.maxVisits, 'time')}, as often as max_visits allows: raise it in that file first.`;
    default:
      return null;
  }
}

const MAX_NAMED_AGENTS = 3;

const abbreviateIds = (ids: readonly string[]): string =>
  ids.length <= MAX_NAMED_AGENTS
    ? ids.join(', ')
    : `${ids.slice(0, MAX_NAMED_AGENTS - 1).join(', ')} and ${ids.length - MAX_NAMED_AGENTS + 1} more`;

/** About twice as much, and more than is spent, as a number that people would choose. */
function higherBudget(budgetMicros: number, spentMicros: number): string {
  const targetUsd = Math.max(2 * microsToUsd(budgetMicros), 1.5 * microsToUsd(spentMicros), 0.01);
  const unit = 10 ** Math.floor(Math.log10(targetUsd));
  return String(Number((Math.ceil(Number((targetUsd / unit).toPrecision(6))) * unit).toPrecision(2)));
}

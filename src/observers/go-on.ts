import type { Agent } from '../core/agent.ts';
import { usdOf } from '../core/ledger.ts';
import type { Run } from '../core/run.ts';
import { clock, counted, dollars } from './words.ts';

/** The command that goes on with a run; null if it has ended with a result for every agent. */
export function goOnCommand(run: Run): string | null {
  if (run.status === 'completed') return null;
  const { stop, options, ledger } = run;
  const words = ['raymond', 'resume', run.id];
  if (stop?.kind === 'budget') words.push('--budget', higherBudget(options.budgetMicros ?? 0, ledger.spentMicros));
  if (stop?.kind === 'iterations') words.push('--max-iterations', String(2 * (options.maxIterations ?? 1)));
  if (run.agents.some(needsRetry)) words.push('--retry');
  return words.join(' ');
}

/** Why a run did not come to its end, a sentence for each reason. Agents with the same trouble share one. */
export function reasonsOf(run: Run, now: number): readonly string[] {
  const stop = stopSentence(run, now);
  const troubles = new Map<string, string[]>();
  for (const agent of run.agents) {
    const trouble = troubleOf(agent);
    if (trouble !== null) troubles.set(trouble, [...(troubles.get(trouble) ?? []), agent.id]);
  }
  return [...(stop === null ? [] : [stop]), ...Array.from(troubles, ([trouble, ids]) => `[${some(ids)}] ${trouble}`)];
}

/** A plain resume would leave such an agent as it is. */
const needsRetry = ({ phase }: Agent): boolean =>
  phase.kind === 'failed' || (phase.kind === 'paused' && phase.why === 'interrupted');

function stopSentence({ stop, options, ledger }: Run, now: number): string | null {
  switch (stop?.kind) {
    case 'budget':
      return `The budget of ${dollars(options.budgetMicros ?? 0)} is used up: ${dollars(ledger.spentMicros)} are spent.`;
    case 'iterations':
      return `The limit of ${counted(options.maxIterations ?? 0, 'iteration')} is reached.`;
    case 'usage_limit':
      return `${stop.message} It ends at ${clock(stop.untilMs, now)}.`;
    case 'stopped':
      return 'It was told to stop.';
    default:
      return null;
  }
}

function troubleOf({ phase, state }: Agent): string | null {
  switch (phase.kind) {
    case 'failed':
    case 'paused':
      return `${phase.kind}: ${phase.message}`;
    case 'limited':
      return `${state} was entered ${counted(phase.maxVisits, 'time')}, as often as max_visits allows: raise it in that file first.`;
    default:
      return null;
  }
}

const MOST_NAMED = 3;

const some = (ids: readonly string[]): string =>
  ids.length <= MOST_NAMED
    ? ids.join(', ')
    : `${ids.slice(0, MOST_NAMED - 1).join(', ')} and ${ids.length - MOST_NAMED + 1} more`;

/** About twice as much, and more than is spent, as a number that people would choose. */
function higherBudget(budgetMicros: number, spentMicros: number): string {
  const wanted = Math.max(2 * usdOf(budgetMicros), 1.5 * usdOf(spentMicros), 0.01);
  const unit = 10 ** Math.floor(Math.log10(wanted));
  return String(Number((Math.ceil(Number((wanted / unit).toPrecision(6))) * unit).toPrecision(2)));
}

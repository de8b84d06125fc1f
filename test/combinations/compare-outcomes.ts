import type { Agent } from '../../src/core/run/agent.ts';
import type { Outcome } from './run-case.ts';

/**
 * Finds what crashes have changed: where an agent ended and with which result, how often it entered its states, what each of them
 * was given, and what that cost. Agents that a join has cancelled in one of the runs, and those that they started, are left out:
 * they depend on who is quicker. What an interrupted turn cost is an estimate.
 */
export function compareOutcomes(
  undisturbed: Outcome,
  disturbed: Outcome,
  features: ReadonlyMap<string, ReadonlySet<string>>,
): string | null {
  const before = new Map(undisturbed.run.agents.map((agent) => [agent.id, agent]));
  const after = new Map(disturbed.run.agents.map((agent) => [agent.id, agent]));
  const open = new Set<string>();
  for (const id of new Set([...before.keys(), ...after.keys()])) {
    const both = [before.get(id), after.get(id)];
    if (both.some((agent) => agent?.phase.kind === 'cancelled' || open.has(agent?.parent ?? ''))) {
      open.add(id);
      continue;
    }
    const isEstimated = features.get(id)?.has('interrupt') === true;
    const [first, second] = [undisturbed, disturbed].map((outcome, at) => summarize(both[at], outcome, isEstimated));
    if (first !== second) return `${id} was\n${first}\nand is now\n${second}`;
  }
  if (open.size === 0 && undisturbed.run.status !== disturbed.run.status)
    return `the run was ${undisturbed.run.status} and is now ${disturbed.run.status}`;
  return null;
}

function summarize(agent: Agent | undefined, { observations }: Outcome, isEstimated: boolean): string {
  if (agent === undefined) return 'not there';
  const { id, state, phase, visits, costMicros } = agent;
  const result = phase.kind === 'ended' ? phase.result : null;
  const received = observations.flatMap((each) =>
    each.kind === 'transition' && each.agent === id ? [`${each.state} → ${each.to}: ${each.input}`] : [],
  );
  const facts = { result, visits, ...(!isEstimated && { costMicros }) };
  return [`${phase.kind} in ${state} ${JSON.stringify(facts)}`, ...received].join('\n');
}

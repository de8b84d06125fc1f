import type { JoinTerms } from '../../language/transitions/transition.ts';
import { endAgent, endEvent, endingPhase, isDraining, leavingEvent } from '../answers/end-agent.ts';
import { type Agent, isDone, isDonePhase, type Phase, recordedTurn } from '../run/agent.ts';
import { indexOfAgent } from '../run/agent-index.ts';
import type { Event, Step } from '../run/event.ts';
import { getAgent, type Run, withAgent, withAgents } from '../run/run.ts';
import type { JoinProgress } from './join-progress.ts';

type Joiner = Agent & { readonly phase: { readonly kind: 'joining' } & JoinProgress };

/** True if a join of this agent with this `group` is about a worker: its own, and one that no join has taken note of. */
const isWorkerFor = (joiner: string, group: string | null, { parent, joinedBy, variables }: Agent): boolean =>
  parent === joiner && joinedBy === null && isInGroup(variables, group);

/** True if a worker with these variables belongs to the group that a join names, if it names one. */
export const isInGroup = (variables: Readonly<Record<string, string>>, group: string | null): boolean =>
  group === null || (Object.hasOwn(variables, 'group') && variables.group === group);

/** Counts the workers that a join of this agent with this `group` would be about. */
export const countOpenWorkers = ({ agents }: Run, joiner: string, group: string | null): number =>
  agents.reduce((count, agent) => count + (isWorkerFor(joiner, group, agent) ? 1 : 0), 0);

/** Lets an agent wait for its workers. `agent` has moved on already: its state is the one to enter afterwards. */
export function startJoin(run: Run, agent: Agent, terms: JoinTerms, at: number): Step {
  const workers = run.agents.filter((each) => isWorkerFor(agent.id, terms.group, each));
  const join = run.seq;
  const eventBase = { at, agent: agent.id, state: agent.state };
  const warnings = [...missingWarning(run, agent), ...(workers.length === 0 ? [noWorkersWarning(terms)] : [])];
  const events = warnings.map((message): Event => ({ kind: 'warning', ...eventBase, message }));
  const noted = workers.filter(isDone).map((worker) => ({ ...worker, joinedBy: join }));
  const progress: JoinProgress = {
    join,
    workers: workers.length,
    done: noted.length,
    wanted: terms.wait === 'all' ? workers.length : Math.min(terms.wait, workers.length),
    group: terms.group,
    cancel: terms.cancel,
    ending: 0,
    untilMs: terms.timeoutMs === null ? null : at + terms.timeoutMs,
    ...(terms.timeoutMs !== null && { timeoutMs: terms.timeoutMs }),
    timeoutNext: terms.timeoutNext,
    timedOut: false,
  };
  const joiner: Joiner = { ...agent, phase: { kind: 'joining', ...progress } };
  const waiting = withAgents({ ...run, joins: true }, [...noted, joiner]);
  const { done, wanted, group, untilMs } = progress;
  events.push({ kind: 'joining', ...eventBase, workers: workers.length, done, wanted, group, untilMs });
  const next = done >= wanted ? concludeJoin(waiting, joiner, at) : { run: waiting, events: [] };
  return { run: next.run, events: [...events, ...next.events] };
}

const noWorkersWarning = ({ group }: JoinTerms): string =>
  `there is nothing to join: ${group === null ? 'it has no worker' : `no worker has the group \`${group}\``} that was not joined before`;

/** Warns of workers that have left the run because nothing pointed to a join. */
function missingWarning({ agents, archive, joins }: Run, { id, forks }: Agent): readonly string[] {
  if (joins || archive === null) return [];
  const missing = forks - agents.reduce((count, { parent }) => count + (parent === id ? 1 : 0), 0);
  return missing <= 0
    ? []
    : [
        `up to ${missing} of its workers ended long ago and are not among the results, because no state of the workflow mentions a <join>`,
      ];
}

/** Settles what the end of an agent means for the joins of the run: its parent may have waited for it, or another have ended it. */
export function recordEnd(run: Run, id: string, at: number): Step {
  const agent = run.agents[indexOfAgent(run.agents, id)];
  if (agent === undefined || !isDone(agent)) return { run, events: [] };
  if (agent.joinedBy !== null) return recordAwaitedEnd(run, agent, at);
  const joiner = agent.parent === null ? undefined : findJoiner(run, agent.parent);
  if (joiner === undefined || !isWorkerFor(joiner.id, joiner.phase.group, agent)) return { run, events: [] };
  const { phase } = joiner;
  const noted = { ...agent, joinedBy: phase.join };
  const counted: Joiner = { ...joiner, phase: { ...phase, done: phase.done + 1 } };
  const next = withAgents(run, [noted, counted]);
  // Where turns are being ended, the last of them lets the agent continue.
  if (counted.phase.done < phase.wanted || phase.ending > 0) return { run: next, events: [] };
  return concludeJoin(next, counted, at);
}

/** Gives up a join whose time is over. */
export function timeOutJoin(run: Run, agent: Agent, at: number): Step {
  const { phase } = agent;
  if (phase.kind !== 'joining' || phase.untilMs === null || at < phase.untilMs) return { run, events: [] };
  return concludeJoin(run, { ...agent, phase: { ...phase, timedOut: true } }, at);
}

/** One of the agents has ended that a join has taken note of already and waits for, because it ends them. */
function recordAwaitedEnd(run: Run, { parent, joinedBy }: Agent, at: number): Step {
  const joiner = findJoinerAbove(run, parent, joinedBy);
  if (joiner === undefined || joiner.phase.ending === 0) return { run, events: [] };
  const counted: Joiner = { ...joiner, phase: { ...joiner.phase, ending: joiner.phase.ending - 1 } };
  return counted.phase.ending > 0 ? { run: withAgent(run, counted), events: [] } : finishJoin(run, counted, at);
}

/** Finds the agent with this join, from this one upwards. */
function findJoinerAbove(run: Run, id: string | null, join: number | null): Joiner | undefined {
  for (let above = id; above !== null; above = run.agents[indexOfAgent(run.agents, above)]?.parent ?? null) {
    const joiner = findJoiner(run, above);
    if (joiner?.phase.join === join) return joiner;
  }
  return undefined;
}

function findJoiner(run: Run, id: string): Joiner | undefined {
  const agent = run.agents[indexOfAgent(run.agents, id)];
  return agent?.phase.kind === 'joining' ? { ...agent, phase: agent.phase } : undefined;
}

/** Enough workers are done, or the time is over: the others are ended if the join wants that, before the agent continues. */
function concludeJoin(run: Run, joiner: Joiner, at: number): Step {
  const unneeded = joiner.phase.cancel ? findUnneeded(run, joiner) : [];
  const events: Event[] = [];
  const cancelled = unneeded.map((agent): Agent => {
    const { phase, event } = cancel(agent, joiner.id, at);
    if (event !== null) events.push(event);
    return { ...agent, joinedBy: joiner.phase.join, phase };
  });
  const ending = cancelled.filter((agent) => !isDone(agent)).length;
  const concluded: Joiner = { ...joiner, phase: { ...joiner.phase, ending, untilMs: null } };
  const next = withAgents(run, [...cancelled, concluded]);
  if (ending > 0) return { run: next, events };
  const finished = finishJoin(next, concluded, at);
  return { run: finished.run, events: [...events, ...finished.events] };
}

/** Ends an agent that is not needed. It may be at its end and only have its worktree left. */
function cancel(agent: Agent, by: string, at: number): { readonly phase: Phase; readonly event: Event | null } {
  if (isDraining(agent)) return { phase: agent.phase, event: null };
  const turn = recordedTurn(agent.phase);
  if (turn !== null) {
    // The join of a worker may be ending it already.
    const isNew = agent.phase.kind !== 'cancelling';
    const event = { kind: 'cancelling', at, agent: agent.id, state: agent.state, by } as const;
    return { phase: { kind: 'cancelling', turn, by }, event: isNew ? event : null };
  }
  const outcome = { kind: 'cancelled', by } as const;
  const phase = endingPhase(agent, outcome);
  return { phase, event: phase.kind === 'worktree' ? leavingEvent(agent, at) : endEvent(agent, outcome, at) };
}

/** The workers of a join that are not done, and everybody below them. Parents stand before their workers. */
function findUnneeded(run: Run, { id, phase }: Joiner): readonly Agent[] {
  const below = new Set<string>();
  return run.agents.filter((agent) => {
    const isUnneeded = isWorkerFor(id, phase.group, agent) && !isDone(agent);
    if (!isUnneeded && (agent.parent === null || !below.has(agent.parent))) return false;
    below.add(agent.id);
    return !isDone(agent);
  });
}

/** Lets the agent continue with the results of its workers. */
function finishJoin(run: Run, joiner: Joiner, at: number): Step {
  const { join, workers, timedOut, timeoutNext } = joiner.phase;
  const counts = { ended: 0, failed: 0, limited: 0, cancelled: 0 };
  for (const { parent, joinedBy, phase } of run.agents) {
    if (parent === joiner.id && joinedBy === join && isDonePhase(phase)) counts[phase.kind] += 1;
  }
  const to = timedOut ? (timeoutNext ?? joiner.state) : joiner.state;
  const phase = { kind: 'ready', prompt: { kind: 'state' }, since: run.seq } as const;
  const left = workers - counts.ended - counts.failed - counts.limited - counts.cancelled;
  return {
    run: withAgent(run, { ...joiner, state: to, results: join, phase }),
    events: [{ kind: 'joined', at, agent: joiner.id, state: joiner.state, to, timedOut, workers: counts, left }],
  };
}

/** Records that a cancelled agent has ended with its last turn. */
export function finishCancelled(run: Run, id: string, at: number): Step {
  const agent = getAgent(run, id);
  if (agent.phase.kind !== 'cancelling') throw new Error(`${id} is ${agent.phase.kind}: nobody cancelled it`);
  return endAgent(run, agent, { kind: 'cancelled', by: agent.phase.by }, at);
}

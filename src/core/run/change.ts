import type { Agent } from './agent.ts';
import type { Event, Step } from './event.ts';
import type { Ledger } from './ledger.ts';
import type { Run } from './run.ts';

/** The changes of one agent in a step. A new agent differs in everything. */
export interface AgentChange {
  /** Its index in the run before the step, where new agents follow the others, and its id; they must agree. */
  readonly at: number;
  readonly id: string;
  readonly set: Partial<Omit<Agent, 'visits'>>;
  /** Only the states whose count has changed. */
  readonly visits: Agent['visits'];
}

/**
 * The changes of one step as plain JSON: a line of the journal. Its size depends on what happened in the step, not on the
 * number of agents or of states they have seen. The ledger names only the states whose costs changed.
 */
export interface Change {
  readonly seq: number;
  readonly head: Partial<Omit<Run, 'seq' | 'agents' | 'ledger'>> & { readonly ledger?: Ledger };
  readonly agents: readonly AgentChange[];
  /** The ids of the agents that the step archived, which leave the run after their changes; left out if there are none. */
  readonly archived?: readonly string[];
  readonly events: readonly Event[];
  /** How the run began: only in the first line, which has no changes. `parseRunStart` checks it. */
  readonly start?: object;
}

/** A step with its change, which is computed once: the scheduler and the storage use it. */
export interface AppliedStep {
  readonly step: Step;
  readonly change: Change;
}

/** Adds its change to a step that was taken from this run. */
export const withChange = (before: Run, step: Step): AppliedStep => ({ step, change: changeOf(before, step) });

/**
 * Finds what a step changed. An object that is the same as before has not changed: the interpreter copies what it
 * alters.
 */
export function changeOf(before: Run, { run, events }: Step): Change {
  const { seq, ledger } = run;
  const archived = run.archive === before.archive ? [] : archivedIds(before.agents, run.agents);
  const { seq: _seq, agents: _agents, ledger: _ledger, ...head } = changedEntries<Run>(before, run);
  return {
    seq,
    head: {
      ...head,
      ...(ledger !== before.ledger && {
        ledger: { ...ledger, states: changedEntries(before.ledger.states, ledger.states) as Ledger['states'] },
      }),
    },
    agents: agentChanges(before.agents, run.agents, new Set(archived)),
    ...(archived.length > 0 && { archived }),
    events,
  };
}

/** The agents that are gone, in order. A step keeps the order of the others, and adds new ones at the end. */
function archivedIds(before: readonly Agent[], after: readonly Agent[]): readonly string[] {
  let kept = 0;
  return before.flatMap(({ id }) => {
    if (after[kept]?.id !== id) return [id];
    kept += 1;
    return [];
  });
}

/** A bare loop, because with ten thousand agents a call for each would slow down every step. */
function agentChanges(
  before: readonly Agent[],
  after: readonly Agent[],
  archived: ReadonlySet<string>,
): readonly AgentChange[] {
  const changes: AgentChange[] = [];
  let gone = 0;
  for (let at = 0; at < after.length + gone; at++) {
    const old = before[at];
    if (archived.size > 0 && old !== undefined && archived.has(old.id)) {
      gone += 1;
      continue;
    }
    const agent = after[at - gone] as Agent;
    if (agent !== old) changes.push(agentChange(at, old, agent));
  }
  return changes;
}

function agentChange(at: number, before: Agent | undefined, agent: Agent): AgentChange {
  const { visits: _visits, ...set } = changedEntries<Agent>(before ?? {}, agent);
  return { at, id: agent.id, set, visits: changedEntries(before?.visits ?? {}, agent.visits) as Agent['visits'] };
}

/** The entries that differ from before. */
function changedEntries<T extends object>(before: Partial<T>, after: T): Partial<T> {
  const entries: Partial<T> = {};
  for (const key in after) if (after[key] !== before[key]) entries[key] = after[key];
  return entries;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** A run that may be changed in place. */
export type Draft = Mutable<Omit<Run, 'agents' | 'ledger'>> & {
  agents: (Mutable<Omit<Agent, 'visits'>> & { visits: Record<string, number> })[];
  ledger: Mutable<Omit<Ledger, 'states'>> & { states: Record<string, Ledger['states'][string]> };
};

/** Applies a change to a run and returns the new run. */
export function applyChange(run: Run, change: Change): Run {
  const touched = new Set(change.agents.map(({ at }) => at));
  const draft: Draft = {
    ...run,
    ledger: { ...run.ledger, states: { ...run.ledger.states } },
    agents: run.agents.map((agent, at) => (touched.has(at) ? { ...agent, visits: { ...agent.visits } } : agent)),
  };
  applyInPlace(draft, change);
  return draft;
}

/** Applies a change to a draft, which makes loading a long journal quick. Throws if the change does not fit the draft. */
export function applyInPlace(draft: Draft, { seq, head, agents, archived, events: _events }: Change): void {
  if (seq !== draft.seq + 1) throw new Error(`step ${draft.seq + 1} should be here, not step ${seq}`);
  const { ledger, ...rest } = head;
  Object.assign(draft, rest, { seq });
  if (ledger !== undefined) {
    const { states, ...totals } = ledger;
    Object.assign(draft.ledger, totals);
    Object.assign(draft.ledger.states, states);
  }
  for (const { at, id, set, visits } of agents) {
    if (at === draft.agents.length) draft.agents.push({ visits: {} } as Draft['agents'][number]);
    const agent = draft.agents[at];
    if (agent === undefined) throw new Error(`there is no agent ${at} (${id}) yet`);
    Object.assign(agent, set);
    Object.assign(agent.visits, visits);
    if (agent.id !== id) throw new Error(`agent ${at} is ${agent.id}, not ${id}`);
  }
  if (archived !== undefined) removeInPlace(draft, new Set(archived));
}

function removeInPlace(draft: Draft, ids: ReadonlySet<string>): void {
  const rest = draft.agents.filter(({ id }) => !ids.has(id));
  const missing = ids.size - (draft.agents.length - rest.length);
  if (missing !== 0) throw new Error(`${missing} of the agents that it archives are not there`);
  draft.agents = rest;
}

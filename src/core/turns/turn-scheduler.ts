import { type Agent, recordedTurn } from '../run/agent.ts';
import { countPhases } from '../run/agent-index.ts';
import type { AppliedStep } from '../run/change.ts';
import { getAgent, type Run } from '../run/run.ts';
import { WORKSPACE } from '../run/workspace.ts';
import type { Signal } from '../signals/signal.ts';
import { sortByReadySince, type Turn, turnsFor, type WaitKind, waitKindOf } from './due.ts';

/**
 * Keeps track of what is due, step by step: it gives the same turns as `due`, without going through all agents.
 *
 * An agent whose turn was started is left out until a signal about it arrives, or another agent's step makes it needless. Every other agent that waits for
 * something is on the list for that, in the order of arrival.
 */
export class TurnScheduler {
  private run: Run;
  /** By agent, the number of the start. */
  private readonly started = new Map<string, number>();
  private starts = 0;
  private readonly unneeded = new Set<string>();
  private readonly lists: Readonly<Record<WaitKind, Set<string>>> = {
    recorded: new Set(),
    sleep: new Set(),
    ask: new Set(),
    joinedScript: new Set(),
    script: new Set(),
    ongoing: new Set(),
    inLine: new Set(),
  };

  constructor(run: Run) {
    this.run = run;
    this.rebuildLists();
  }

  /** True if no turn is under way, but for agents that wait for a person: nothing is lost if nobody listens any more. */
  get isIdle(): boolean {
    return this.started.size === countPhases(this.run.agents).asking - this.lists.ask.size;
  }

  /** Takes in the step that a signal has led to. */
  update(signal: Signal, { step: { run }, change }: AppliedStep): void {
    const firstNew = this.run.agents.length;
    const wasRunning = this.run.status === 'running';
    this.run = run;
    const own = 'agent' in signal ? signal.agent : null;
    if (own !== null) this.started.delete(own);
    if (WORKSPACE_SIGNALS.has(signal.kind)) this.started.delete(WORKSPACE);
    // New workers stand in line before their parent.
    for (const { at, id } of change.agents) if (at >= firstNew) this.updateLists(getAgent(run, id));
    for (const { at, id, set } of change.agents)
      if (at < firstNew && id !== own) this.reconsider(getAgent(run, id), set.phase !== undefined);
    // A signal about the whole run may let many agents stand in line at once.
    if (own === null) this.rebuildLists();
    else this.updateLists(getAgent(run, own));
    if (run.status !== 'running' && wasRunning) this.dropSleeps();
  }

  /** Ends the sleeps of a run that a limit has ended: nothing would come of them, and they may last for days. */
  private dropSleeps(): void {
    for (const id of this.started.keys()) {
      if (id === WORKSPACE) continue;
      const agent = getAgent(this.run, id);
      if (agent.phase.kind !== 'sleeping' && agent.phase.kind !== 'joining') continue;
      this.started.delete(id);
      this.unneeded.add(id);
      this.updateLists(agent);
    }
  }

  /** Notes that the turn of this agent has been started; returns the number of the start. */
  markStarted(id: string): number {
    this.starts += 1;
    this.started.set(id, this.starts);
    if (id === WORKSPACE) return this.starts;
    const agent = getAgent(this.run, id);
    this.updateLists(agent);
    if (agent.phase.kind === 'cancelling') this.unneeded.add(id);
    return this.starts;
  }

  /** True if what was started for this agent with this number is still what the run waits for. */
  isUnderWay(id: string, start: number): boolean {
    return this.started.get(id) === start;
  }

  /** The agents for which something is under way that is to be ended; each is named once. */
  takeUnneeded(): readonly string[] {
    const ids = [...this.unneeded];
    this.unneeded.clear();
    return ids;
  }

  /** Notes that nothing is under way for this agent any more. */
  release(id: string): void {
    this.started.delete(id);
    if (id !== WORKSPACE) this.updateLists(getAgent(this.run, id));
  }

  /** The turns that should be under way and are not. */
  due(): readonly Turn[] {
    const { recorded, sleep, ask, joinedScript, script, ongoing, inLine } = this.lists;
    const agentsIn = (ids: ReadonlySet<string>): Iterable<Agent> => (ids.size === 0 ? [] : agentsOf(this.run, ids));
    return turnsFor(this.run, {
      recorded: agentsIn(recorded),
      sleep: agentsIn(sleep),
      ask: agentsIn(ask),
      joinedScript: agentsIn(joinedScript),
      script: agentsIn(script),
      ongoing: agentsIn(ongoing),
      inLine: agentsIn(inLine),
      isWorkspaceUnderWay: this.started.has(WORKSPACE),
    });
  }

  /** Takes in that the step of another agent has changed this one. A turn continues until it has ended, a sleep is forgotten. */
  private reconsider(agent: Agent, hasNewPhase: boolean): void {
    if (hasNewPhase && this.started.has(agent.id)) {
      if (recordedTurn(agent.phase) === null) this.started.delete(agent.id);
      if (agent.phase.kind !== 'running') this.unneeded.add(agent.id);
    }
    this.updateLists(agent);
  }

  private rebuildLists(): void {
    for (const list of Object.values(this.lists)) list.clear();
    for (const agent of sortByReadySince(this.run.agents)) this.updateLists(agent);
  }

  /**
   * Puts an agent on the lists it belongs to and takes it off the others. An agent that is already on a list keeps its
   * place.
   */
  private updateLists(agent: Agent): void {
    const wait = this.started.has(agent.id) ? null : waitKindOf(agent);
    for (const [name, list] of Object.entries(this.lists)) {
      if (name === wait) list.add(agent.id);
      else list.delete(agent.id);
    }
  }
}

/** The signals that end a turn about the run's clone. */
const WORKSPACE_SIGNALS: ReadonlySet<Signal['kind']> = new Set([
  'workspace_made',
  'workspace_refused',
  'workspace_left',
]);

/** Looks the agents up lazily: mostly only the first few are needed. */
function* agentsOf(run: Run, ids: ReadonlySet<string>): Iterable<Agent> {
  for (const id of ids) yield getAgent(run, id);
}

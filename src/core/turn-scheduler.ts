import type { Agent } from './agent.ts';
import { countPhases } from './agent-index.ts';
import { archivedCount } from './archive.ts';
import { sortByReadySince, type Turn, turnsFor, type WaitKind, waitKindOf } from './due.ts';
import { getAgent, type Run } from './run.ts';
import type { Signal } from './signal.ts';

/**
 * Keeps track of what is due, step by step: it gives the same turns as `due`, without going through all agents.
 *
 * An agent whose turn was started is left out until a signal about it arrives. Every other agent that waits for
 * something is on the list for that, in the order of arrival.
 */
export class TurnScheduler {
  private run: Run;
  private readonly started = new Set<string>();
  private readonly lists: Readonly<Record<WaitKind, Set<string>>> = {
    recorded: new Set(),
    sleep: new Set(),
    ask: new Set(),
    script: new Set(),
    ongoing: new Set(),
    inLine: new Set(),
  };

  constructor(run: Run) {
    this.run = run;
    this.rebuildLists();
  }

  /** Whether no turn is under way, but for agents that wait for a person: nothing is lost if nobody listens any more. */
  get isIdle(): boolean {
    return this.started.size === countPhases(this.run.agents).asking - this.lists.ask.size;
  }

  /** Takes in the run after a signal. */
  update(signal: Signal, run: Run): void {
    const removed = archivedCount(run) - archivedCount(this.run);
    const newAgents = run.agents.slice(this.run.agents.length - removed);
    this.run = run;
    // A signal about one agent changes only that agent, adds new ones and archives ended ones; any other may change them all.
    if ('agent' in signal) {
      // New workers stand in line before their parent.
      for (const agent of newAgents) this.updateLists(agent);
      this.release(signal.agent);
    } else this.rebuildLists();
  }

  /** Notes that the turn of this agent has been started. */
  markStarted(id: string): void {
    this.started.add(id);
    this.updateLists(getAgent(this.run, id));
  }

  /** Notes that nothing is under way for this agent any more. */
  release(id: string): void {
    this.started.delete(id);
    this.updateLists(getAgent(this.run, id));
  }

  /** The turns that should be under way and are not. */
  due(): readonly Turn[] {
    const { recorded, sleep, ask, script, ongoing, inLine } = this.lists;
    const agentsIn = (ids: ReadonlySet<string>): Iterable<Agent> => (ids.size === 0 ? [] : agentsOf(this.run, ids));
    return turnsFor(this.run, {
      recorded: agentsIn(recorded),
      sleep: agentsIn(sleep),
      ask: agentsIn(ask),
      script: agentsIn(script),
      ongoing: agentsIn(ongoing),
      inLine: agentsIn(inLine),
    });
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

/** Looks the agents up lazily: mostly only the first few are needed. */
function* agentsOf(run: Run, ids: ReadonlySet<string>): Iterable<Agent> {
  for (const id of ids) yield getAgent(run, id);
}

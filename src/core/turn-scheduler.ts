import type { Agent } from './agent.ts';
import { hasClaudeTurnRunning, sortByReadySince, type Turn, turnsFor, type WaitKind, waitKindOf } from './due.ts';
import { getAgent, type Run } from './run.ts';
import type { Signal } from './signal.ts';

/**
 * What is due in a run, kept up to date step by step: it says what `due` says, without going through all agents.
 *
 * An agent whose turn was started is attended to until a signal about it is taken in. The others, if anything is to be
 * done about them, are on the list of what they wait for, in the order in which they came to it.
 */
export class TurnScheduler {
  private run: Run;
  private readonly started = new Set<string>();
  private readonly lists: Readonly<Record<WaitKind | 'atClaude', Set<string>>> = {
    recorded: new Set(),
    sleep: new Set(),
    script: new Set(),
    prompt: new Set(),
    atClaude: new Set(),
  };

  constructor(run: Run) {
    this.run = run;
    this.rebuildLists();
  }

  /** Whether no turn is under way. */
  get isIdle(): boolean {
    return this.started.size === 0;
  }

  /** Takes in what a signal has made of the run. */
  update(signal: Signal, run: Run): void {
    const previousCount = this.run.agents.length;
    this.run = run;
    if ('agent' in signal) this.release(signal.agent);
    for (let index = previousCount; index < run.agents.length; index++) this.updateLists(run.agents[index] as Agent);
    // Nothing else changes more than the agent it is about and those who are born of it.
    if (signal.kind === 'resumed') this.rebuildLists();
  }

  /** The turn of this agent has been started. */
  markStarted(id: string): void {
    this.started.add(id);
    this.updateLists(getAgent(this.run, id));
  }

  /** Nobody attends to this agent any more. */
  release(id: string): void {
    this.started.delete(id);
    this.updateLists(getAgent(this.run, id));
  }

  /** What should be under way now and is not. */
  due(): readonly Turn[] {
    const { recorded, sleep, script, prompt, atClaude } = this.lists;
    const agentsIn = (ids: ReadonlySet<string>): Iterable<Agent> => (ids.size === 0 ? [] : agentsOf(this.run, ids));
    return turnsFor(this.run, {
      recorded: agentsIn(recorded),
      sleep: agentsIn(sleep),
      script: agentsIn(script),
      prompt: agentsIn(prompt),
      atClaude: agentsIn(atClaude),
    });
  }

  private rebuildLists(): void {
    for (const list of Object.values(this.lists)) list.clear();
    for (const agent of sortByReadySince(this.run.agents)) this.updateLists(agent);
  }

  /** Puts an agent on the lists it belongs to and takes it off the others. Who is on a list already keeps its place. */
  private updateLists(agent: Agent): void {
    const wait = this.started.has(agent.id) ? null : waitKindOf(agent);
    for (const [name, list] of Object.entries(this.lists)) {
      if (name === 'atClaude' ? hasClaudeTurnRunning(agent) : name === wait) list.add(agent.id);
      else list.delete(agent.id);
    }
  }
}

/** Looked up one by one, as far as somebody wants them. */
function* agentsOf(run: Run, ids: ReadonlySet<string>): Iterable<Agent> {
  for (const id of ids) yield getAgent(run, id);
}

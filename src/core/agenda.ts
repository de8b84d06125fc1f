import type { Agent } from './agent.ts';
import { inTurn, isAtClaude, type Turn, turnsFor, type Wait, waitOf } from './due.ts';
import { agentOf, type Run } from './run.ts';
import type { Signal } from './signal.ts';

/**
 * What is due in a run, kept up to date step by step: it says what `due` says, without going through all agents.
 *
 * An agent whose turn was started is attended to until a signal about it is taken in. The others, if anything is to be
 * done about them, are on the list of what they wait for, in the order in which they came to it.
 */
export class Agenda {
  private run: Run;
  private readonly attended = new Set<string>();
  private readonly lists: Readonly<Record<Wait | 'atClaude', Set<string>>> = {
    recorded: new Set(),
    sleep: new Set(),
    script: new Set(),
    prompt: new Set(),
    atClaude: new Set(),
  };

  constructor(run: Run) {
    this.run = run;
    this.enlistAll();
  }

  /** Whether no turn is under way. */
  get isIdle(): boolean {
    return this.attended.size === 0;
  }

  /** Takes in what a signal has made of the run. */
  follow(signal: Signal, run: Run): void {
    const known = this.run.agents.length;
    this.run = run;
    if ('agent' in signal) this.release(signal.agent);
    for (let place = known; place < run.agents.length; place++) this.enlist(run.agents[place] as Agent);
    // Nothing else changes more than the agent it is about and those who are born of it.
    if (signal.kind === 'resumed') this.enlistAll();
  }

  /** The turn of this agent has been started. */
  attend(id: string): void {
    this.attended.add(id);
    this.enlist(agentOf(this.run, id));
  }

  /** Nobody attends to this agent any more. */
  release(id: string): void {
    this.attended.delete(id);
    this.enlist(agentOf(this.run, id));
  }

  /** What should be under way now and is not. */
  due(): readonly Turn[] {
    const { recorded, sleep, script, prompt, atClaude } = this.lists;
    const those = (ids: ReadonlySet<string>): Iterable<Agent> => (ids.size === 0 ? [] : agentsOf(this.run, ids));
    return turnsFor(this.run, {
      recorded: those(recorded),
      sleep: those(sleep),
      script: those(script),
      prompt: those(prompt),
      atClaude: those(atClaude),
    });
  }

  private enlistAll(): void {
    for (const list of Object.values(this.lists)) list.clear();
    for (const agent of inTurn(this.run.agents)) this.enlist(agent);
  }

  /** Puts an agent on the lists it belongs to and takes it off the others. Who is on a list already keeps its place. */
  private enlist(agent: Agent): void {
    const wait = this.attended.has(agent.id) ? null : waitOf(agent);
    for (const [name, list] of Object.entries(this.lists)) {
      if (name === 'atClaude' ? isAtClaude(agent) : name === wait) list.add(agent.id);
      else list.delete(agent.id);
    }
  }
}

/** Looked up one by one, as far as somebody wants them. */
function* agentsOf(run: Run, ids: ReadonlySet<string>): Iterable<Agent> {
  for (const id of ids) yield agentOf(run, id);
}

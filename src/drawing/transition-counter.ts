import type { AgentStarted, Event, Transitioned } from '../core/run/event.ts';
import { namesakeOf } from '../language/transitions/index.ts';
import { RunTally, type StateTally } from '../render/run-tally.ts';
import type { ArrowKind } from './diagram.ts';

/** A transition and how often agents took it. `to` is null if it ended the agent. */
export interface TransitionCount {
  readonly from: string | null;
  readonly kind: ArrowKind;
  readonly to: string | null;
  readonly times: number;
}

/** Counts the transitions of a run, or of several in turn, and what was done in each state, from their events. */
export class TransitionCounter {
  private readonly tally = new RunTally();
  private readonly counts = new Map<string, TransitionCount>();
  /** For each agent the states that it returns to, the innermost last, and the state that it left last. */
  private readonly callers = new Map<string, string[]>();
  private readonly lastStates = new Map<string, string>();

  /** Adds an event. */
  add(event: Event): void {
    this.tally.count(event);
    if (event.kind === 'agent_started') this.countStart(event);
    if (event.kind === 'transition') this.countTransition(event);
    if (event.kind === 'evaluated') this.count(event.state, 'evaluator', event.evaluator);
    if (event.kind === 'joined' && event.timedOut)
      this.count(this.lastStates.get(event.agent) ?? null, 'join', event.to);
  }

  get states(): readonly StateTally[] {
    return this.tally.states;
  }

  get transitionCounts(): readonly TransitionCount[] {
    return [...this.counts.values()];
  }

  private countStart({ agent, parent, state }: AgentStarted): void {
    this.callers.delete(agent);
    if (parent === null) this.count(null, 'begin', state);
    else this.count(this.lastStates.get(parent) ?? null, 'fork', state);
  }

  private countTransition({ agent, state, tag, tags, to, depth, guard }: Transitioned): void {
    const callers = this.callers.get(agent) ?? [];
    this.callers.set(agent, callers);
    this.lastStates.set(agent, state);
    if (guard !== undefined) {
      this.count(state, 'guard', to);
      return;
    }
    const kind = namesakeOf(tag);
    switch (kind) {
      case 'goto':
      case 'join':
      case 'reset':
      case 'ask':
      case 'compact':
        this.count(state, kind, to);
        break;
      case 'call':
      case 'function':
        this.count(state, kind, to);
        callers.push(state);
        break;
      case 'fork':
      case 'fork-each':
        this.count(state, tags.some((each) => each.tag === 'join') ? 'join' : 'next', to);
        break;
      case 'result':
        this.count(state, to === null ? 'result' : 'back', to);
        if (to !== null) this.count(callers.pop() ?? null, 'return', to);
        break;
      default:
        kind satisfies never;
    }
    // A reset may have dropped some of the callers, or all.
    callers.length = Math.min(callers.length, depth);
  }

  private count(from: string | null, kind: ArrowKind, to: string | null): void {
    const key = JSON.stringify([from, kind, to]);
    this.counts.set(key, { from, kind, to, times: (this.counts.get(key)?.times ?? 0) + 1 });
  }
}

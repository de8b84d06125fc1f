import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Event } from '../core/run/event.ts';
import type { Run } from '../core/run/run.ts';
import { turnRefOf } from '../core/turns/due.ts';
import { layoutOf } from '../disk/layout.ts';
import { describeUnfinished } from '../render/next-steps.ts';
import { collectAgentPaths, collectPrints, collectResults } from '../render/run-history.ts';
import type { TestRun } from './run-scenario.ts';

/** Answers the questions that expectations ask about a finished test run. */
export class RunObservations {
  readonly run: Run;
  readonly folder: string;
  private readonly events: readonly Event[];

  constructor({ run, folder, events }: TestRun) {
    this.run = run;
    this.folder = folder;
    this.events = events;
  }

  /** Why the run did not complete, one sentence per reason. */
  get reasons(): readonly string[] {
    return describeUnfinished(this.run, this.run.startedAt);
  }

  /** The states that an agent entered; undefined if there was no such agent. */
  pathOf(agent: string): readonly string[] | undefined {
    return collectAgentPaths(this.events).get(agent);
  }

  /** The result of an agent; null if it did not end with one, undefined if there was no such agent. */
  resultOf(id: string): string | null | undefined {
    const result = collectResults(this.events).get(id);
    if (result !== undefined) return result;
    return this.run.agents.some((each) => each.id === id) ? null : undefined;
  }

  /** The texts that an agent has shown with `<print>`, in order. */
  printsOf(agent: string): readonly string[] {
    return collectPrints(this.events).get(agent) ?? [];
  }

  /** The prompts that a state sent when it was entered, one per visit; only those of `onlyAgent` unless that is null. */
  promptsOf(state: string, onlyAgent: string | null): readonly string[] {
    const layout = layoutOf(join(this.folder, '.raymond'));
    /** The states that agents are in, and the evaluators that are at work, each with its agent. */
    const entered = new Set<string>();
    return this.events.flatMap((event) => {
      if (event.kind === 'transition') entered.delete(event.agent);
      if (event.kind === 'evaluated') entered.delete(`${event.agent}/${event.evaluator}`);
      if (event.kind !== 'turn_started' || event.prompt === 'compact') return [];
      const key = event.evaluator === null ? event.agent : `${event.agent}/${event.evaluator}`;
      if (entered.has(key)) return [];
      entered.add(key);
      const turn = turnRefOf(event);
      if (turn.state !== state || (onlyAgent !== null && event.agent !== onlyAgent)) return [];
      return [readFileSync(join(layout.turnFolder(this.run.id, turn), 'stdin'), 'utf8')];
    });
  }

  /** The cost of a state, or of the whole run for null. */
  microsOf(state: string | null): number {
    const { spentMicros, states } = this.run.ledger;
    if (state === null) return spentMicros;
    return Object.hasOwn(states, state) ? (states[state]?.micros ?? 0) : 0;
  }

  /** How often an event happened in a state, or anywhere for null. */
  countOf(kind: 'turn_ended' | 'reminded' | 'warning', state: string | null): number {
    const isIn = (event: Extract<Event, { kind: typeof kind }>): boolean =>
      state === null || (('evaluator' in event && event.evaluator) || event.state) === state;
    return this.events.filter((event) => isOfKind(event, kind) && isIn(event)).length;
  }
}

const isOfKind = <Kind extends Event['kind']>(event: Event, kind: Kind): event is Extract<Event, { kind: Kind }> =>
  event.kind === kind;

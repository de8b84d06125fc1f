import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Event } from '../core/event.ts';
import type { Run } from '../core/run.ts';
import { describeUnfinished } from '../events/next-steps.ts';
import { collectAgentPaths } from '../events/run-history.ts';
import { layoutOf } from '../store/layout.ts';
import type { TestRun } from './run-scenario.ts';

/** What can be found out about a scenario that was played. */
export class RunObservations {
  readonly run: Run;
  readonly folder: string;
  private readonly events: readonly Event[];

  constructor({ run, folder, events }: TestRun) {
    this.run = run;
    this.folder = folder;
    this.events = events;
  }

  /** Why the run did not end well. */
  get reasons(): readonly string[] {
    return describeUnfinished(this.run, this.run.startedAt);
  }

  /** The states that an agent has come to; undefined if there was no such agent. */
  pathOf(agent: string): readonly string[] | undefined {
    return collectAgentPaths(this.events).get(agent);
  }

  /** The result of an agent; null if it has none, undefined if there was no such agent. */
  resultOf(id: string): string | null | undefined {
    const agent = this.run.agents.find((each) => each.id === id);
    if (agent === undefined) return undefined;
    return agent.phase.kind === 'ended' ? agent.phase.result : null;
  }

  /** What a state was sent when it was entered, visit by visit, by an agent; by whomever if that is null. */
  promptsOf(state: string, onlyAgent: string | null): readonly string[] {
    const layout = layoutOf(join(this.folder, '.raymond'));
    const arrived = new Set<string>();
    return this.events.flatMap((event) => {
      if (event.kind === 'transition') arrived.delete(event.agent);
      if (event.kind !== 'turn_started' || arrived.has(event.agent)) return [];
      arrived.add(event.agent);
      if (event.state !== state || (onlyAgent !== null && event.agent !== onlyAgent)) return [];
      const turn = { agent: event.agent, number: event.turn, state };
      return [readFileSync(join(layout.turnFolder(this.run.id, turn), 'stdin'), 'utf8')];
    });
  }

  /** What a state has cost, or all of them. */
  microsOf(state: string | null): number {
    const { spentMicros, states } = this.run.ledger;
    if (state === null) return spentMicros;
    return Object.hasOwn(states, state) ? (states[state]?.micros ?? 0) : 0;
  }

  /** How often something happened, in one state or in all. */
  countOf(kind: 'turn_ended' | 'reminded' | 'warning', state: string | null): number {
    return this.events.filter((event) => event.kind === kind && (state === null || event.state === state)).length;
  }
}

import type { Event } from '../core/event.ts';
import { NO_WORK_TIME, updateWorkTime, type WorkTime } from './work-time.ts';

/** The visits of one state, and the number, time and cost of its turns. */
export interface StateTally {
  readonly state: string;
  readonly visits: number;
  readonly turns: number;
  readonly ms: number;
  readonly micros: number;
}

/**
 * Counts visits, turns, time and cost for each state, from the events of one run or of several in turn. States are in the
 * order of their first visit.
 */
export class RunTally {
  private readonly byState = new Map<string, StateTally>();
  private readonly agentsInState = new Set<string>();
  worked: WorkTime = NO_WORK_TIME;

  /** Adds an event. */
  count(event: Event): void {
    this.worked = updateWorkTime(this.worked, event);
    if (event.kind === 'turn_started')
      this.add(event.state, { turns: 1, visits: this.entersState(event.agent) ? 1 : 0 });
    if (event.kind === 'turn_ended') this.add(event.state, { ms: event.durationMs, micros: event.costMicros });
    if (event.kind === 'transition' || event.kind === 'agent_started') this.agentsInState.delete(event.agent);
  }

  get states(): readonly StateTally[] {
    return [...this.byState.values()];
  }

  /** Whether this is an agent's first turn since its last transition; reminders and retries are no visits. */
  private entersState(agent: string): boolean {
    const first = !this.agentsInState.has(agent);
    this.agentsInState.add(agent);
    return first;
  }

  private add(state: string, amounts: Partial<StateTally>): void {
    const { visits, turns, ms, micros } = this.byState.get(state) ?? { visits: 0, turns: 0, ms: 0, micros: 0 };
    this.byState.set(state, {
      state,
      visits: visits + (amounts.visits ?? 0),
      turns: turns + (amounts.turns ?? 0),
      ms: ms + (amounts.ms ?? 0),
      micros: micros + (amounts.micros ?? 0),
    });
  }
}

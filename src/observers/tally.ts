import type { Event } from '../core/event.ts';
import { NEVER_WORKED, type Worked, workedAfter } from './worked.ts';

/** What the turns of one state came to. */
export interface StateTally {
  readonly state: string;
  readonly visits: number;
  readonly turns: number;
  readonly ms: number;
  readonly micros: number;
}

/** What a run has come to, counted from its events. States stand in the order in which they were first entered. */
export class Tally {
  private readonly byState = new Map<string, StateTally>();
  private readonly arrived = new Set<string>();
  worked: Worked = NEVER_WORKED;

  tell(event: Event): void {
    this.worked = workedAfter(this.worked, event);
    if (event.kind === 'turn_started') this.add(event.state, { turns: 1, visits: this.arrives(event.agent) ? 1 : 0 });
    if (event.kind === 'turn_ended') this.add(event.state, { ms: event.durationMs, micros: event.costMicros });
    if (event.kind === 'transition') this.arrived.delete(event.agent);
  }

  get states(): readonly StateTally[] {
    return [...this.byState.values()];
  }

  /** Whether this is the first turn of an agent in the state it has come to; reminders and retries are no visits. */
  private arrives(agent: string): boolean {
    const first = !this.arrived.has(agent);
    this.arrived.add(agent);
    return first;
  }

  private add(state: string, more: Partial<StateTally>): void {
    const { visits, turns, ms, micros } = this.byState.get(state) ?? { visits: 0, turns: 0, ms: 0, micros: 0 };
    this.byState.set(state, {
      state,
      visits: visits + (more.visits ?? 0),
      turns: turns + (more.turns ?? 0),
      ms: ms + (more.ms ?? 0),
      micros: micros + (more.micros ?? 0),
    });
  }
}

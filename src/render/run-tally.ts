import type { Event, TurnStarted } from '../core/run/event.ts';
import { countTokens, sumTokens } from '../core/run/tokens.ts';
import { NO_WORK_TIME, updateWorkTime, type WorkTime } from './work-time.ts';

/** The visits of one state, or the evaluations by one evaluator, and the number, time and cost of its turns. */
export interface StateTally {
  readonly state: string;
  readonly visits: number;
  readonly turns: number;
  readonly ms: number;
  readonly micros: number;
  /** Tokens of all kinds. */
  readonly tokens: number;
}

const NO_TALLY: TallyData = { states: [], worked: NO_WORK_TIME, inState: [] };
const NOTHING_COUNTED = { visits: 0, turns: 0, ms: 0, micros: 0, tokens: 0 };

/** A tally as plain data. */
export interface TallyData {
  readonly states: readonly StateTally[];
  readonly worked: WorkTime;
  /** The agents and evaluators that have begun in their state. */
  readonly inState: readonly string[];
}

/**
 * Counts visits, turns, time and cost for each state, from the events of one run or of several in turn. States are in the
 * order of their first visit.
 */
export class RunTally {
  private readonly byState: Map<string, StateTally>;
  private readonly agentsInState: Set<string>;
  worked: WorkTime;

  /** With `past`, it continues where that ends. */
  constructor({ states, worked, inState }: TallyData = NO_TALLY) {
    this.byState = new Map(states.map((each) => [each.state, each]));
    this.agentsInState = new Set(inState);
    this.worked = worked;
  }

  /** Adds an event. */
  count(event: Event): void {
    this.worked = updateWorkTime(this.worked, event);
    if (event.kind === 'turn_started')
      this.add(event.evaluator ?? event.state, { turns: 1, visits: this.enters(event) ? 1 : 0 });
    if (event.kind === 'turn_ended') {
      const tokens = countTokens(sumTokens(event.models));
      this.add(event.evaluator ?? event.state, { ms: event.durationMs, micros: event.costMicros, tokens });
    }
    if (event.kind === 'cost_corrected') {
      const micros = event.costMicros - event.formerMicros;
      this.add(event.evaluator ?? event.state, { micros, tokens: countTokens(sumTokens(event.models)) });
    }
    if (event.kind === 'transition' || event.kind === 'agent_started') this.agentsInState.delete(event.agent);
    if (event.kind === 'evaluated') this.agentsInState.delete(`${event.agent}/${event.evaluator}`);
  }

  get states(): readonly StateTally[] {
    return [...this.byState.values()];
  }

  /** Forgets in which states agents are, but for these agents. */
  retainAgents(ids: ReadonlySet<string>): void {
    for (const key of this.agentsInState) if (!ids.has(key.split('/')[0] ?? '')) this.agentsInState.delete(key);
  }

  toData(): TallyData {
    return { states: this.states, worked: this.worked, inState: [...this.agentsInState] };
  }

  /** True if this is the first turn of a visit, or of an evaluation; reminders and retries are none. */
  private enters({ agent, evaluator }: TurnStarted): boolean {
    const key = evaluator === null ? agent : `${agent}/${evaluator}`;
    const first = !this.agentsInState.has(key);
    this.agentsInState.add(key);
    return first;
  }

  private add(state: string, amounts: Partial<StateTally>): void {
    const { visits, turns, ms, micros, tokens } = this.byState.get(state) ?? NOTHING_COUNTED;
    this.byState.set(state, {
      state,
      visits: visits + (amounts.visits ?? 0),
      turns: turns + (amounts.turns ?? 0),
      ms: ms + (amounts.ms ?? 0),
      micros: micros + (amounts.micros ?? 0),
      tokens: tokens + (amounts.tokens ?? 0),
    });
  }
}

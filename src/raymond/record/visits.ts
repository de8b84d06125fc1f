import type { Event, TurnEnded } from '../../core/event.ts';
import type { FailureKind } from '../../core/failure.ts';

/** A turn that is worth recording. */
export interface KeptTurn {
  readonly end: TurnEnded;
  /** What it cost, with the turns before it that are not recorded. */
  readonly micros: number;
  /** If it met a usage limit: how long that took. */
  readonly resetsInMs: number | null;
}

/** One visit of an agent to a state. */
export interface RecordedVisit {
  readonly agent: string;
  readonly state: string;
  readonly turns: readonly KeptTurn[];
}

/** Turns that only an accident or a person has ended: the next one does what they were to do. */
const ACCIDENTS: readonly (FailureKind | null)[] = ['lost', 'stopped', 'interrupted'];

/**
 * The visits of a run in the order in which they began. A turn that was ended by an accident, or after which somebody had
 * to resume the run, is left out: a scenario goes through at once.
 */
export function visitsOf(events: readonly Event[]): readonly RecordedVisit[] {
  const visits: Open[] = [];
  const open = new Map<string, Open>();
  for (const event of events) {
    if (event.kind === 'run_resumed') for (const visit of open.values()) visit.resumed();
    if (!('agent' in event)) continue;
    const { agent } = event;
    if (event.kind === 'turn_started' && !open.has(agent)) {
      const visit = new Open(agent, event.state);
      visits.push(visit);
      open.set(agent, visit);
    }
    if (event.kind === 'turn_ended') open.get(agent)?.ended(event);
    if (event.kind === 'sleeping' && event.why === 'usage_limit') open.get(agent)?.limited(event.untilMs - event.at);
    if (event.kind === 'transition') open.delete(agent);
  }
  return visits;
}

class Open implements RecordedVisit {
  readonly agent: string;
  readonly state: string;
  readonly turns: KeptTurn[] = [];
  private unrecordedMicros = 0;

  constructor(agent: string, state: string) {
    this.agent = agent;
    this.state = state;
  }

  ended(end: TurnEnded): void {
    const micros = end.costMicros + this.unrecordedMicros;
    this.unrecordedMicros = ACCIDENTS.includes(end.failure) ? micros : 0;
    if (!ACCIDENTS.includes(end.failure)) this.turns.push({ end, micros, resetsInMs: null });
  }

  limited(ms: number): void {
    const last = this.turns.pop();
    if (last !== undefined) this.turns.push({ ...last, resetsInMs: ms });
  }

  /** What a run was resumed after is as good as undone. */
  resumed(): void {
    const last = this.turns.at(-1);
    if (last === undefined || last.end.failure === null) return;
    this.turns.pop();
    this.unrecordedMicros += last.micros;
  }
}

import type { Event, TurnEnded } from '../../core/run/event.ts';
import type { FailureKind } from '../../language/failure.ts';
import type { FollowedTag } from '../../language/tags/followed-tag.ts';
import { type RecordedSummary, SummaryCollector } from './summaries.ts';

/** A turn that is recorded. */
export interface RecordedTurn {
  readonly end: TurnEnded;
  /** Its cost, including that of unrecorded turns before it. */
  readonly micros: number;
  /** The wait for a usage limit, if it met one. */
  readonly resetsInMs: number | null;
  /** The tags of its answer; none if the answer was not followed. */
  readonly tags: readonly FollowedTag[];
  /** The summary of the conversation that was made, or tried, before it; null if there was none. */
  readonly summary: RecordedSummary | null;
}

/** One visit of an agent to a state, or one evaluation of what it answered there. */
export interface RecordedVisit {
  readonly agent: string;
  /** The file of the state, or of the evaluator. */
  readonly state: string;
  readonly turns: readonly RecordedTurn[];
}

/** Failures that no scenario needs: the next turn does the work of these. */
const DISCARDED_FAILURES: readonly (FailureKind | null)[] = ['lost', 'stopped', 'interrupted', 'broken_off', 'parked'];

/**
 * Collects the visits of a run in the order in which they began. A turn that was interrupted, or after which the run
 * had to be resumed, is left out: a scenario is never resumed.
 */
export function collectVisits(events: readonly Event[]): readonly RecordedVisit[] {
  const visits: OpenVisit[] = [];
  const open = new Map<string, OpenVisit>();
  /** By agent, the evaluation of its latest answer, and whether it is over. */
  const evaluations = new Map<string, { readonly visit: OpenVisit; isOver: boolean }>();
  const begin = (agent: string, state: string): OpenVisit => {
    const visit = new OpenVisit(agent, state);
    visits.push(visit);
    return visit;
  };
  const visitOf = (agent: string): OpenVisit | undefined => {
    const evaluation = evaluations.get(agent);
    return evaluation?.isOver === false ? evaluation.visit : open.get(agent);
  };
  const summaries = new SummaryCollector();
  for (const event of events) {
    if (event.kind === 'run_resumed') for (const agent of open.keys()) visitOf(agent)?.dropFailedTurn();
    if (!('agent' in event)) continue;
    const { agent } = event;
    if (summaries.add(event)) continue;
    if (event.kind === 'turn_started' && event.prompt !== 'compact') {
      const { state, evaluator } = event;
      if (!open.has(agent)) open.set(agent, begin(agent, state));
      if (evaluator !== null && visitOf(agent)?.state !== evaluator)
        evaluations.set(agent, { visit: begin(agent, evaluator), isOver: false });
    }
    if (event.kind === 'turn_ended')
      visitOf(agent)?.addTurn(event, event.session === null ? null : summaries.take(agent));
    if (event.kind === 'sleeping' && event.why === 'usage_limit')
      visitOf(agent)?.amendLastTurn({ resetsInMs: event.untilMs - event.at });
    const evaluation = evaluations.get(agent);
    if (event.kind === 'evaluated' && evaluation !== undefined) evaluation.isOver = true;
    if (event.kind !== 'transition') continue;
    open.get(agent)?.amendLastTurn({ tags: event.choice.by === 'answer' ? event.tags : event.requested });
    if (event.choice.by === 'evaluator') evaluation?.visit.amendLastTurn({ tags: event.tags });
    open.delete(agent);
    evaluations.delete(agent);
  }
  return visits;
}

class OpenVisit implements RecordedVisit {
  readonly agent: string;
  readonly state: string;
  readonly turns: RecordedTurn[] = [];
  private unrecordedMicros = 0;
  private summary: RecordedSummary | null = null;

  constructor(agent: string, state: string) {
    this.agent = agent;
    this.state = state;
  }

  addTurn(end: TurnEnded, summary: RecordedSummary | null): void {
    const micros = end.costMicros + this.unrecordedMicros;
    this.unrecordedMicros = DISCARDED_FAILURES.includes(end.failure) ? micros : 0;
    this.summary ??= summary;
    if (DISCARDED_FAILURES.includes(end.failure)) return;
    this.turns.push({
      end,
      micros,
      resetsInMs: null,
      tags: [],
      summary: this.turns.length === 0 ? this.summary : null,
    });
  }

  amendLastTurn(facts: Partial<RecordedTurn>): void {
    const last = this.turns.pop();
    if (last !== undefined) this.turns.push({ ...last, ...facts });
  }

  /** Drops the failed turn after which the run was resumed. */
  dropFailedTurn(): void {
    const last = this.turns.at(-1);
    if (last === undefined || last.end.failure === null) return;
    this.turns.pop();
    this.unrecordedMicros += last.micros;
  }
}

import type { Event } from '../../core/run/event.ts';
import { isSummaryWarning } from '../../core/turns/compaction.ts';

/** A summary of a conversation that was made, or tried. */
export interface RecordedSummary {
  readonly micros: number;
  readonly failed: boolean;
}

/** Collects the summaries of conversations, each for the next turn of its agent. */
export class SummaryCollector {
  private readonly underWay = new Set<string>();
  private readonly summaries = new Map<string, RecordedSummary>();

  /** Notes what an event says of a summary. True if it is the end of the turn that was to make one. */
  add(event: Event): boolean {
    if (event.kind === 'turn_started' && event.prompt === 'compact') this.underWay.add(event.agent);
    if (event.kind === 'warning' && isSummaryWarning(event.message)) this.change(event.agent, { failed: true });
    if (event.kind !== 'turn_ended' || !this.underWay.delete(event.agent)) return false;
    this.change(event.agent, { micros: event.costMicros + (this.summaries.get(event.agent)?.micros ?? 0) });
    return true;
  }

  /** The summary before the next turn of an agent; null if there was none. */
  take(agent: string): RecordedSummary | null {
    const summary = this.summaries.get(agent) ?? null;
    this.summaries.delete(agent);
    return summary;
  }

  private change(agent: string, facts: Partial<RecordedSummary>): void {
    this.summaries.set(agent, { micros: 0, failed: false, ...this.summaries.get(agent), ...facts });
  }
}

import type { Event } from '../core/event.ts';
import { formatDollars, formatLocalTime } from './format.ts';

/** Writes the entries of `transitions.log`: who went where, in which session, for how much. */
export class TransitionsLog {
  private spentMicros: number;

  constructor(spentMicros: number) {
    this.spentMicros = spentMicros;
  }

  /** The entry for an event, or null if it gets none. */
  formatEntry(event: Event): string | null {
    if (event.kind === 'turn_ended') this.spentMicros = event.spentMicros;
    const head = formatEntryHead(event);
    if (head === null || !('agent' in event)) return null;
    return `${formatLocalTime(event.at)} [${event.agent}] ${[head, ...this.formatEntryDetails(event)].join('\n  ')}\n\n`;
  }

  private formatEntryDetails(event: Event): readonly string[] {
    if (event.kind !== 'transition') return [];
    return [
      `session_id: ${event.session ?? 'none'}`,
      `cost: ${formatDollars(event.costMicros)}`,
      `total_cost: ${formatDollars(this.spentMicros)}`,
      ...(event.depth > 0 ? [`stack_depth: ${event.depth}`] : []),
      ...(event.tag === 'result' ? [`result: ${JSON.stringify(event.input)}`] : []),
    ];
  }
}

function formatEntryHead(event: Event): string | null {
  switch (event.kind) {
    case 'transition':
      return `${event.state} -> ${event.to === null ? `(${event.tag}, terminated)` : `${event.to} (${event.tag})`}`;
    case 'agent_started':
      return event.parent === null ? null : `forked by ${event.parent}: starts in ${event.state}`;
    case 'agent_failed':
      return `${event.state} failed: ${event.message}`;
    case 'agent_paused':
      return `${event.state} paused: ${event.message}`;
    case 'answer_withheld':
      return `${event.state}: budget reached, transition not followed`;
    case 'visit_limit':
      return `${event.state}: max_visits ${event.maxVisits} reached`;
    default:
      return null;
  }
}

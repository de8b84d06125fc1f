import type { Event } from '../core/event.ts';
import { dollars, localTime } from './words.ts';

/** Writes the entries of `transitions.log`: who went where, in which session, for how much. */
export class TransitionsLog {
  private spentMicros: number;

  constructor(spentMicros: number) {
    this.spentMicros = spentMicros;
  }

  /** The entry for an event, or null if it gets none. */
  entryOf(event: Event): string | null {
    if (event.kind === 'turn_ended') this.spentMicros = event.spentMicros;
    const head = headOf(event);
    if (head === null || !('agent' in event)) return null;
    return `${localTime(event.at)} [${event.agent}] ${[head, ...this.detailsOf(event)].join('\n  ')}\n\n`;
  }

  private detailsOf(event: Event): readonly string[] {
    if (event.kind !== 'transition') return [];
    return [
      `session_id: ${event.session ?? 'none'}`,
      `cost: ${dollars(event.costMicros)}`,
      `total_cost: ${dollars(this.spentMicros)}`,
      ...(event.depth > 0 ? [`stack_depth: ${event.depth}`] : []),
      ...(event.tag === 'result' ? [`result: ${JSON.stringify(event.input)}`] : []),
    ];
  }
}

function headOf(event: Event): string | null {
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

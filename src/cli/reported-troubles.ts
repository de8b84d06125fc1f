import type { Event } from '../core/event.ts';

const TROUBLE_KINDS: ReadonlySet<Event['kind']> = new Set(['agent_failed', 'agent_paused']);
const PROGRESS_KINDS: ReadonlySet<Event['kind']> = new Set(['turn_started', 'transition', 'agent_resumed']);

/** Remembers whose trouble was the last that the user has read: it need not be told to him again right after. */
export class ReportedTroubles {
  private readonly agents = new Set<string>();

  observe(event: Event): void {
    if (PROGRESS_KINDS.has(event.kind)) this.agents.clear();
    if (TROUBLE_KINDS.has(event.kind) && 'agent' in event) this.agents.add(event.agent);
  }

  get agentIds(): ReadonlySet<string> {
    return this.agents;
  }
}

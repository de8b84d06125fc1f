import type { Event } from '../core/event.ts';

const TROUBLES: ReadonlySet<Event['kind']> = new Set(['agent_failed', 'agent_paused']);
const PROGRESS: ReadonlySet<Event['kind']> = new Set(['turn_started', 'transition', 'agent_resumed']);

/** Remembers whose trouble was the last that the user has read: it need not be told to him again right after. */
export class News {
  private readonly agents = new Set<string>();

  tell(event: Event): void {
    if (PROGRESS.has(event.kind)) this.agents.clear();
    if (TROUBLES.has(event.kind) && 'agent' in event) this.agents.add(event.agent);
  }

  get troubled(): ReadonlySet<string> {
    return this.agents;
  }
}

/** Ends turns before their time: one that nobody needs any more, or all of them when the run is killed. */
export class TurnEndings {
  private readonly kill: AbortSignal;
  private readonly controllers = new Map<string, AbortController>();

  /** `kill` is aborted when all turns are to be ended. */
  constructor(kill: AbortSignal) {
    this.kill = kill;
    kill.addEventListener('abort', () => {
      for (const controller of this.controllers.values()) controller.abort();
    });
  }

  /** The signal that is aborted when what is under way for this agent is to end. */
  signalFor(agent: string): AbortSignal {
    return this.controllerFor(agent).signal;
  }

  /** Ends what is under way for this agent, if anything is. */
  end(agent: string): void {
    this.controllers.get(agent)?.abort();
  }

  /** Does something for an agent that can be ended. What was under way for it before is no longer known. */
  async during<T>(agent: string, action: (end: AbortSignal) => Promise<T>): Promise<T> {
    this.controllers.delete(agent);
    const controller = this.controllerFor(agent);
    try {
      return await action(controller.signal);
    } finally {
      if (this.controllers.get(agent) === controller) this.controllers.delete(agent);
    }
  }

  private controllerFor(agent: string): AbortController {
    const controller = this.controllers.get(agent) ?? new AbortController();
    if (this.kill.aborted) controller.abort();
    this.controllers.set(agent, controller);
    return controller;
  }
}

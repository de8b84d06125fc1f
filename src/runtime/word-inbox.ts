import type { Event } from '../core/event.ts';
import type { Run } from '../core/run.ts';
import type { Signal } from '../core/signal.ts';
import type { Backend } from '../turns/backend.ts';
import type { Clock } from '../turns/clock.ts';
import type { WordSource } from './word-source.ts';

/** What an inbox needs of the run around it. */
export interface WordInboxContext {
  readonly words: WordSource;
  readonly run: Run;
  readonly backend: Backend;
  /** Ends the running turn of an agent by force. */
  readonly end: (agent: string) => void;
  readonly clock: Clock;
  readonly send: (signal: Signal) => void;
  readonly warn: (about: { readonly agent: string; readonly state: string }, message: string) => void;
}

/** Takes up what people say to the agents of a run, and passes it on once it is in the journal. */
export class WordInbox {
  private readonly context: WordInboxContext;
  private readonly words: WordSource;
  /** The names of those that were taken up and may still be there; by id where that is known. */
  private readonly seen = new Set<string>();
  private readonly nameById = new Map<string, string>();

  constructor(context: WordInboxContext) {
    this.context = context;
    this.words = context.words;
  }

  /** Takes up what was said while nobody drove the run. What the journal has already was only not removed. */
  async open(): Promise<void> {
    await this.words.open();
    const isNew = this.context.run.seq === 0 || this.words.list().length === 0;
    this.look(isNew ? NONE : await this.words.readJournaled());
  }

  /** Whether something can be written into the running turn of an agent. */
  canReach(agent: string): boolean {
    return this.context.backend.canReach?.(agent) || this.words.canReach?.(agent) || false;
  }

  /** Looks for something new. Cheap: it is done several times a second. */
  look(journaled: ReadonlySet<string> = NONE): void {
    for (const name of this.words.list()) if (!this.seen.has(name)) this.takeUp(name, journaled);
  }

  /** Passes on what is in the journal now. What waits goes first: then it is never taken for something new. */
  passOn(events: readonly Event[]): void {
    const { backend, end } = this.context;
    for (const event of events) {
      if (event.kind === 'said') {
        this.remove(event.said);
        if (event.turn !== null) backend.say?.(event.agent, event.turn, { id: event.said, text: event.text });
      }
      if (event.kind === 'turn_interrupted') {
        this.remove(event.interrupt);
        if (event.turn !== null && backend.interrupt?.(event.agent) !== true) end(event.agent);
      }
    }
  }

  private takeUp(name: string, journaled: ReadonlySet<string>): void {
    const { clock, send, warn, run } = this.context;
    const request = this.words.read(name);
    if (request === undefined) return;
    this.seen.add(name);
    if (request === null) {
      const { id: agent = 'main', state = '' } = run.agents[0] ?? {};
      warn({ agent, state }, `what ${this.words.describe(name)} says cannot be read: it is not delivered to anybody`);
      return;
    }
    const { kind, id, agent, text, by, at: saidAt } = request;
    this.nameById.set(id, name);
    if (journaled.has(id)) {
      this.remove(id);
      return;
    }
    const signal = { at: clock.now(), about: { agent }, by, saidAt };
    if (kind === 'interrupt') send({ kind, ...signal, interrupt: id, text });
    else if (text !== null) send({ kind: 'said', ...signal, said: id, text, isReachable: this.canReach(agent) });
  }

  private remove(id: string): void {
    const name = this.nameById.get(id);
    if (name === undefined) return;
    this.words.remove(name);
    this.nameById.delete(id);
  }
}

const NONE: ReadonlySet<string> = new Set();

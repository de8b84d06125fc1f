import { join } from 'node:path';
import type { Event } from '../core/event.ts';
import type { Run } from '../core/run.ts';
import type { Signal } from '../core/signal.ts';
import { readEvents } from '../store/journal-events.ts';
import type { StoreLayout } from '../store/layout.ts';
import { listWordRequests, readWordRequest, removeWordRequest } from '../store/word-request.ts';
import type { Backend } from '../turns/backend.ts';
import type { Clock } from '../turns/clock.ts';

/** What an inbox needs of the run around it. */
export interface WordInboxContext {
  readonly layout: StoreLayout;
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
  private readonly folder: string;
  /** The names of the files that were taken up and may still be there; by id where that is known. */
  private readonly seen = new Set<string>();
  private readonly nameById = new Map<string, string>();

  constructor(context: WordInboxContext) {
    this.context = context;
    this.folder = context.layout.wordsFolder(context.run.id);
  }

  /** Takes up what was said while nobody drove the run. What the journal has already was only not removed. */
  async open(): Promise<void> {
    const { layout, run } = this.context;
    if (run.seq > 0 && listWordRequests(this.folder).length > 0) {
      const journaled = new Set<string>();
      for await (const { event } of readEvents(layout, run.id)) {
        if (event.kind === 'said') journaled.add(event.said);
        if (event.kind === 'turn_interrupted') journaled.add(event.interrupt);
      }
      this.look(journaled);
    } else this.look();
  }

  /** Looks for something new. Cheap: it is done several times a second. */
  look(journaled: ReadonlySet<string> = NONE): void {
    for (const name of listWordRequests(this.folder)) if (!this.seen.has(name)) this.takeUp(name, journaled);
  }

  /** Passes on what is in the journal now. Its file goes first: then it is never taken for something new. */
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
    const { backend, clock, send, warn, run } = this.context;
    const request = readWordRequest(join(this.folder, name));
    if (request === undefined) return;
    this.seen.add(name);
    if (request === null) {
      const { id: agent = 'main', state = '' } = run.agents[0] ?? {};
      warn({ agent, state }, `what ${join(this.folder, name)} says cannot be read: it is not delivered to anybody`);
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
    else if (text !== null)
      send({ kind: 'said', ...signal, said: id, text, isReachable: backend.canReach?.(agent) ?? false });
  }

  private remove(id: string): void {
    const name = this.nameById.get(id);
    if (name === undefined) return;
    removeWordRequest(join(this.folder, name));
    this.nameById.delete(id);
  }
}

const NONE: ReadonlySet<string> = new Set();

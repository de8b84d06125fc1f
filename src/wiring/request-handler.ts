import { join } from 'node:path';
import type { Command } from '../core/command.ts';
import type { AppliedStep } from '../core/run/change.ts';
import type { Event } from '../core/run/event.ts';
import { waitingAsksOf } from '../core/run/permission.ts';
import type { Run } from '../core/run/run.ts';
import type { Signal } from '../core/signals/signal.ts';
import type { AskTurn } from '../core/turns/ask-turn.ts';
import { ASKS_FOLDER } from '../language/ask.ts';
import type { Clock } from '../process/clock.ts';
import { type AnswerPlace, placeUploads, removeUploads, toAskAnswer } from '../storage/answers.ts';
import type { InboxRequest, PendingRequest, RequestOutcome, StopMode } from '../storage/requests.ts';
import type { RunLease } from '../storage/storage.ts';
import type { Backend } from '../turns/backend.ts';
import type { AnswerSource, OpenQuestions } from '../turns/open-questions.ts';

/** The inbox of a run, the files of its answers, and its journal. */
export interface RequestPlace extends AnswerPlace {
  readEvents(run: string): AsyncIterable<Event>;
}

/** The dependencies of a handler. */
export interface RequestHandlerContext {
  readonly lease: Pick<RunLease, 'leaseId' | 'pending' | 'settle'>;
  readonly place: RequestPlace;
  readonly run: Run;
  readonly backend: Backend;
  readonly askBoard: OpenQuestions;
  readonly clock: Clock;
  /** True if something can be written into a turn of the agent that another process has taken. */
  readonly canReachElsewhere: (agent: string) => boolean;
  /** Ends the running turn of an agent by force. */
  readonly end: (agent: string) => void;
  readonly stop: (mode: StopMode) => void;
  readonly send: (signal: Signal) => void;
  readonly warn: (about: { readonly agent: string; readonly state: string }, message: string) => void;
}

/**
 * Turns the pending requests of a run into signals, and settles each once the journal has it. The journal of a run that was killed in
 * between has requests that are still pending: those are only settled.
 */
export class RequestHandler {
  private readonly context: RequestHandlerContext;
  /** The ids of requests that were handled; the questions that wait look for their answers themselves. */
  private readonly seen = new Set<string>();
  private readonly unsettledStops = new Set<string>();
  private latest: Run;

  constructor(context: RequestHandlerContext) {
    this.context = context;
    this.latest = context.run;
  }

  /** Handles what was requested while nobody drove the run. */
  async open(): Promise<void> {
    const { lease, place, run } = this.context;
    if (run.seq > 0 && lease.pending().length > 0) {
      const pending = new Map(lease.pending().map((request) => [request.id, request]));
      for await (const event of place.readEvents(run.id)) this.settleBy(event, pending);
      this.refuseLateAnswers();
    }
    this.look();
  }

  /** Finds a question that waits for an answer. */
  findQuestion = (ask: string): AskTurn | undefined => this.context.askBoard.find(ask);

  /** True if something can be written into the running turn of an agent. */
  canReach(agent: string): boolean {
    return this.context.backend.canReach?.(agent) || this.context.canReachElsewhere(agent);
  }

  /** Looks for new requests. Cheap: it is polled. */
  look(): void {
    for (const request of this.context.lease.pending()) {
      if (this.seen.has(request.id)) continue;
      this.seen.add(request.id);
      this.handle(request);
    }
    this.context.askBoard.look();
  }

  /** Settles the requests that are in the journal with these steps. */
  settleSaved(steps: readonly AppliedStep[]): void {
    const { lease } = this.context;
    this.latest = steps.at(-1)?.step.run ?? this.latest;
    const events = steps.flatMap(({ step }) => step.events);
    if (events.some(isSettling)) {
      const pending = new Map(lease.pending().map((request) => [request.id, request]));
      for (const event of events) this.settleBy(event, pending);
    }
    if (this.latest.stop === null && this.latest.status === 'running') return;
    for (const id of this.unsettledStops) lease.settle(id, { kind: 'accepted', turn: null });
    this.unsettledStops.clear();
  }

  /** Passes what is in the journal now to the running turns. */
  deliver(commands: readonly Command[]): void {
    const { backend, end } = this.context;
    for (const command of commands) {
      const { id, agent, turn } = command;
      if (turn === null) continue;
      if (command.kind === 'permission') backend.decide?.(agent, turn, id, command.decision);
      else if (command.kind === 'message') backend.say?.(agent, turn, { id, text: command.text });
      else if (backend.interrupt?.(agent) !== true) end(agent);
    }
  }

  /** Settles what nobody waits for any more when the run has ended here. */
  close(): void {
    const { lease } = this.context;
    if (this.latest.status === 'running') return;
    for (const request of lease.pending())
      if (request.kind === 'stop') lease.settle(request.id, { kind: 'refused', reason: 'the run has ended' });
    this.refuseLateAnswers();
  }

  private handle(request: PendingRequest): void {
    const { lease, stop } = this.context;
    if (request.kind === 'unreadable') this.warnOf(request.id, request.message);
    if (request.kind === 'message' || request.kind === 'interrupt') this.send(request);
    if (request.kind !== 'stop') return;
    if (request.lease === lease.leaseId) {
      this.unsettledStops.add(request.id);
      stop(request.mode);
    } else lease.settle(request.id, { kind: 'refused', reason: 'the run was resumed since' });
  }

  private send(request: Extract<InboxRequest, { kind: 'message' | 'interrupt' }>): void {
    const { clock, send } = this.context;
    const { id, agent, by, at: saidAt } = request;
    const signal = { at: clock.now(), about: { agent }, by, saidAt };
    if (request.kind === 'interrupt') send({ kind: 'interrupt', ...signal, interrupt: id, text: request.text });
    else send({ kind: 'said', ...signal, said: id, text: request.text, isReachable: this.canReach(agent) });
  }

  private warnOf(id: string, message: string): void {
    const { run, warn } = this.context;
    const asking = this.latest.agents.find((agent) => waitingAsksOf(agent).some(({ ask }) => ask === id));
    const { id: agent = 'main', state = '' } = asking ?? run.agents[0] ?? {};
    const warning = asking
      ? `${message}: the question ${id} still waits`
      : `${message}: it is not delivered to anybody`;
    warn({ agent, state }, warning);
  }

  private settleBy(event: Event, pending: ReadonlyMap<string, PendingRequest>): void {
    if (!isSettling(event)) return;
    const id = requestIdOf(event);
    const request = pending.get(id);
    if (request === undefined) return;
    this.context.lease.settle(id, outcomeOf(event));
    if (request.kind === 'answer') removeUploads(this.context.place.blobs, request.files).catch(() => {});
  }

  /** Refuses answers to questions that nobody asks. */
  private refuseLateAnswers(): void {
    const asked = new Set(this.latest.agents.flatMap(waitingAsksOf).map(({ ask }) => ask));
    for (const { kind, id } of this.context.lease.pending())
      if ((kind === 'answer' || kind === 'timeout') && !asked.has(id))
        this.context.lease.settle(id, { kind: 'refused', reason: 'its agent does not wait any more' });
  }
}

type SettlingEvent = Extract<Event, { kind: 'said' | 'turn_interrupted' | 'ask_answered' | 'ask_timed_out' }>;

const isSettling = (event: Event): event is SettlingEvent =>
  event.kind === 'said' ||
  event.kind === 'turn_interrupted' ||
  event.kind === 'ask_answered' ||
  event.kind === 'ask_timed_out';

function requestIdOf(event: SettlingEvent): string {
  if (event.kind === 'said') return event.said;
  return event.kind === 'turn_interrupted' ? event.interrupt : event.ask;
}

function outcomeOf(event: SettlingEvent): RequestOutcome {
  if (event.kind === 'ask_answered' || event.kind === 'ask_timed_out') return { kind: 'accepted', turn: null };
  const { turn, refused } = event;
  return refused === null ? { kind: 'accepted', turn } : { kind: 'refused', reason: refused };
}

/** Where the answers to the questions of a run come from: its inbox. A deadline and a person put theirs under the same id. */
export function createAnswerSource(
  { inbox, blobs }: AnswerPlace,
  lease: Pick<RunLease, 'pending'>,
  run: string,
  clock: Clock,
): AnswerSource {
  const isEnd = ({ kind }: Pick<InboxRequest, 'kind'> | PendingRequest): boolean =>
    kind === 'answer' || kind === 'timeout';
  return {
    look() {
      const ended = new Set(lease.pending().flatMap((request) => (isEnd(request) ? [request.id] : [])));
      return ({ ask }) => ended.has(ask);
    },
    async find(turn) {
      const request = (await inbox.find(run, turn.ask))?.request;
      if (request?.kind === 'timeout') return null;
      if (request?.kind !== 'answer') return undefined;
      if (turn.taskFolder !== null)
        await placeUploads(blobs, request.files, join(turn.taskFolder, ASKS_FOLDER, turn.ask));
      return toAskAnswer(request);
    },
    async expire({ ask }) {
      await inbox.put(run, { kind: 'timeout', id: ask, by: DEADLINE, at: clock.now() });
    },
  };
}

/** The sender of a timeout. */
const DEADLINE = 'deadline';

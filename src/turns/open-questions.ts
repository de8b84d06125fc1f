import type { Signal } from '../core/signals/signal.ts';
import type { AskTurn } from '../core/turns/ask-turn.ts';
import type { AskAnswer } from '../language/ask.ts';
import type { Clock, RemainingMs } from '../process/clock.ts';

/** How the answers of people get to a run. */
export interface AnswerSource {
  /** Looks once for all questions, and tells which of them have ended. Cheap: it is done several times a second. */
  poll(): (turn: AskTurn) => boolean;
  /** The answer to a question; null if its time is over, undefined if it still waits. */
  find(turn: AskTurn): Promise<AskAnswer | null | undefined>;
  /** Ends a question whose time is over, unless it has ended before. */
  expire(turn: AskTurn): Promise<void>;
}

interface WaitingQuestion {
  readonly turn: AskTurn;
  /** The time left; null if it never expires. */
  readonly remainingMs: RemainingMs | null;
  readonly end: (signal: Signal) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * The questions of a run that wait for an answer. However many there are, they share one timer for the earliest of their deadlines;
 * the caller looks for answers.
 */
export class OpenQuestions {
  private readonly source: AnswerSource;
  private readonly clock: Clock;
  private readonly waiting = new Map<string, WaitingQuestion>();
  private readonly ending = new Set<string>();
  private alarm: { readonly remainingMs: RemainingMs; readonly cancel: AbortController } | undefined;

  constructor(source: AnswerSource, clock: Clock) {
    this.source = source;
    this.clock = clock;
  }

  /** Waits until a question ends. */
  wait(turn: AskTurn): Promise<Signal> {
    return new Promise((end, fail) => {
      const remainingMs =
        turn.untilMs === null ? null : this.clock.measureUntil(turn.untilMs, turn.mostMs ?? Number.POSITIVE_INFINITY);
      this.waiting.set(turn.ask, { turn, remainingMs, end, fail });
      if (remainingMs !== null) this.setAlarm(remainingMs);
    });
  }

  /** Takes a question off that nobody waits for any more. */
  forget(ask: string): void {
    if (this.waiting.delete(ask) && this.waiting.size === 0) this.close();
  }

  /** Finds a question that waits here. */
  find = (ask: string): AskTurn | undefined => this.waiting.get(ask)?.turn;

  /** Looks for answers now. */
  poll(): void {
    if (this.waiting.size === 0) return;
    const hasEnded = this.source.poll();
    for (const question of this.waiting.values()) if (hasEnded(question.turn)) this.end(question);
  }

  /** Stops listening; questions that wait are not told. */
  close(): void {
    this.alarm?.cancel.abort();
    this.alarm = undefined;
    this.waiting.clear();
  }

  /** Reports the end of a question, once. */
  private end({ turn, remainingMs, end, fail }: WaitingQuestion): void {
    if (this.ending.has(turn.ask)) return;
    this.ending.add(turn.ask);
    const isOver = remainingMs !== null && remainingMs() <= 0;
    findEnd(this.source, turn, this.clock, isOver)
      .then((signal) => {
        if (signal === undefined || !this.waiting.delete(turn.ask)) return;
        if (this.waiting.size === 0) this.close();
        end(signal);
      }, fail)
      .finally(() => this.ending.delete(turn.ask));
  }

  /** Sets the one alarm to this time, unless it is set to an earlier one. */
  private setAlarm(remainingMs: RemainingMs): void {
    if (this.alarm !== undefined && this.alarm.remainingMs() <= remainingMs()) return;
    this.alarm?.cancel.abort();
    const cancel = new AbortController();
    this.alarm = { remainingMs, cancel };
    this.clock.sleepWhile(remainingMs, cancel.signal).then((isOver) => isOver && this.ring());
  }

  /** Ends the questions whose time is over, and sets the alarm for the next. */
  private ring(): void {
    this.alarm = undefined;
    for (const question of this.waiting.values()) {
      const { remainingMs } = question;
      if (remainingMs === null) continue;
      if (remainingMs() <= 0) this.end(question);
      else this.setAlarm(remainingMs);
    }
  }
}

/** Finds how a question ended; undefined if it still waits. If it is answered in the very moment its time is over, that counts. */
export async function findEnd(
  source: AnswerSource,
  turn: AskTurn,
  clock: Clock,
  isOver: boolean,
): Promise<AskEndSignal | undefined> {
  const { agent, ask } = turn;
  let answer = await source.find(turn);
  const at = clock.now();
  if (answer === undefined) {
    if (!isOver) return undefined;
    await source.expire(turn);
    answer = await source.find(turn);
  }
  return answer == null ? { kind: 'ask_timed_out', at, agent, ask } : { kind: 'ask_answered', at, agent, ...answer };
}

/** The signal that a question has ended. */
export type AskEndSignal = Extract<Signal, { kind: 'ask_answered' | 'ask_timed_out' }>;

import type { AskAnswer } from '../core/ask.ts';
import type { AskTurn } from '../core/ask-turn.ts';
import type { Signal } from '../core/signal.ts';
import type { Clock } from './clock.ts';

/** How the answers of people get to a run. */
export interface AnswerSource {
  /** Looks once for all questions, and tells which of them have ended. Cheap: it is done several times a second. */
  look(): (turn: AskTurn) => boolean;
  /** The answer to a question; null if its time is over, undefined if it still waits. */
  find(turn: AskTurn): Promise<AskAnswer | null | undefined>;
  /** Ends a question whose time is over, unless it has ended before. */
  expire(turn: AskTurn): Promise<void>;
}

/** A look takes microseconds and, unlike a watch, works on every file system. */
const LOOK_INTERVAL_MS = 250;

interface WaitingQuestion {
  readonly turn: AskTurn;
  readonly end: (signal: Signal) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * The questions of a run that wait for an answer. However many there are, they share one timer to look for answers and
 * one for the earliest of their times.
 */
export class AskBoard {
  private readonly source: AnswerSource;
  private readonly clock: Clock;
  private readonly waiting = new Map<string, WaitingQuestion>();
  private readonly ending = new Set<string>();
  private looking: NodeJS.Timeout | undefined;
  private alarm: { readonly untilMs: number; readonly cancel: AbortController } | undefined;

  constructor(source: AnswerSource, clock: Clock) {
    this.source = source;
    this.clock = clock;
  }

  /** Waits until a question ends. */
  wait(turn: AskTurn): Promise<Signal> {
    return new Promise((end, fail) => {
      this.waiting.set(turn.ask, { turn, end, fail });
      this.looking ??= setInterval(() => this.look(), LOOK_INTERVAL_MS);
      if (turn.untilMs !== null) this.setAlarm(turn.untilMs);
    });
  }

  /** Takes a question off that nobody waits for any more. */
  forget(ask: string): void {
    if (this.waiting.delete(ask) && this.waiting.size === 0) this.close();
  }

  /** Finds a question that waits here. */
  find = (ask: string): AskTurn | undefined => this.waiting.get(ask)?.turn;

  /** Looks for answers now. */
  look(): void {
    const hasEnded = this.source.look();
    for (const question of this.waiting.values()) if (hasEnded(question.turn)) this.end(question);
  }

  /** Stops listening; questions that wait are not told. */
  close(): void {
    clearInterval(this.looking);
    this.looking = undefined;
    this.alarm?.cancel.abort();
    this.alarm = undefined;
    this.waiting.clear();
  }

  /** Reports the end of a question, once. */
  private end({ turn, end, fail }: WaitingQuestion): void {
    if (this.ending.has(turn.ask)) return;
    this.ending.add(turn.ask);
    findEnd(this.source, turn, this.clock)
      .then((signal) => {
        if (signal === undefined || !this.waiting.delete(turn.ask)) return;
        if (this.waiting.size === 0) this.close();
        end(signal);
      }, fail)
      .finally(() => this.ending.delete(turn.ask));
  }

  /** Sets the one alarm to this time, unless it is set to an earlier one. */
  private setAlarm(untilMs: number): void {
    if (this.alarm !== undefined && this.alarm.untilMs <= untilMs) return;
    this.alarm?.cancel.abort();
    const cancel = new AbortController();
    this.alarm = { untilMs, cancel };
    this.clock.sleepUntil(untilMs, cancel.signal).then((isOver) => isOver && this.ring());
  }

  /** Ends the questions whose time is over, and sets the alarm for the next. */
  private ring(): void {
    this.alarm = undefined;
    const now = this.clock.now();
    let earliest = Number.POSITIVE_INFINITY;
    for (const question of this.waiting.values()) {
      const { untilMs } = question.turn;
      if (untilMs !== null && untilMs <= now) this.end(question);
      else earliest = Math.min(earliest, untilMs ?? earliest);
    }
    if (earliest < Number.POSITIVE_INFINITY) this.setAlarm(earliest);
  }
}

/** Finds how a question ended; undefined if it still waits. If it is answered in the very moment its time is over, that counts. */
export async function findEnd(source: AnswerSource, turn: AskTurn, clock: Clock): Promise<AskEndSignal | undefined> {
  const { agent, ask, untilMs } = turn;
  let answer = await source.find(turn);
  const at = clock.now();
  if (answer === undefined) {
    if (untilMs === null || untilMs > at) return undefined;
    await source.expire(turn);
    answer = await source.find(turn);
  }
  return answer == null ? { kind: 'ask_timed_out', at, agent, ask } : { kind: 'ask_answered', at, agent, ...answer };
}

/** The signal that a question has ended. */
export type AskEndSignal = Extract<Signal, { kind: 'ask_answered' | 'ask_timed_out' }>;

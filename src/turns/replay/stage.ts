import { mkdirSync } from 'node:fs';
import type { ClaudeTurn, ScriptTurn } from '../../core/due.ts';
import type { Failed } from '../../core/signal.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import { END_GRACE_MS, endTurn } from '../../process/end.ts';
import { lookFor } from '../../process/find.ts';
import { chooseAnswer, placeOf } from '../../scenario/choose.ts';
import type { Answer, Scenario } from '../../scenario/scenario.ts';
import type { Clock } from '../clock.ts';
import { type Desk, markerOf } from '../desk.ts';
import { renderAnswer } from './render.ts';
import { writeInside } from './write.ts';

/** What is needed to play a run's turns. */
export interface Stage {
  readonly desk: Desk;
  readonly scenario: Scenario;
  /** Takes every `seconds` for 0. */
  readonly fast: boolean;
  readonly kill: AbortSignal;
  readonly clock: Clock;
  /** Ends this life of the run at once, for ever; elsewhere than in a rehearsal nobody can. */
  readonly crash?: () => Promise<never>;
  /** Told what is played, as it stands in the file. */
  readonly plays?: (answer: Answer) => void;
  /** Told what cannot be played, because the file lacks it. */
  readonly lacks?: (message: string) => void;
}

type PlayedTurn = ClaudeTurn | ScriptTurn;

/** The answer that is meant for a turn, filled in; throws a RaymondError that says what is missing. */
export function answerFor({ scenario, lacks, plays }: Stage, turn: PlayedTurn): ReturnType<typeof renderAnswer> {
  const choice = chooseAnswer(scenario, turn);
  if (choice.kind === 'none') {
    lacks?.(choice.message);
    throw unplayable(`${choice.message}, then resume the run.`);
  }
  plays?.(choice.answer);
  return renderAnswer(choice.answer, turn.variables);
}

/** What the author should know about an answer. */
export function warningsOf({ scenario }: Stage, turn: PlayedTurn, unknown: readonly string[]): readonly string[] {
  return unknown.map((name) => `${scenario.file}: the answer for ${turn.state}: {{${name}}} is not set`);
}

/**
 * The folder of a turn. If the turn was begun in an earlier life, a power cut may have taken its folder, and if someone
 * else began it, it may be alive: both are put right.
 */
export async function clearedFolder({ desk }: Stage, turn: PlayedTurn, life: 'this' | 'earlier'): Promise<string> {
  const dir = desk.folderOf(turn);
  if (life === 'this') return dir;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const marker = markerOf(desk, turn);
  const { kind } = await lookFor(dir, marker);
  if (kind === 'alive') await endTurn(dir, marker, { graceMs: END_GRACE_MS });
  return dir;
}

/** Lets a part of an answer's time pass; false if the turn is to end now. */
export function pass({ fast, kill, clock }: Stage, { seconds }: Answer, parts: number): Promise<boolean> {
  return clock.sleepUntil(clock.now() + (fast ? 0 : (seconds * 1000) / parts), kill);
}

/** Lets Raymond be gone where an answer says so, once: who plays the turn again in a later life goes on. */
export async function mayCrash({ crash }: Stage, answer: Answer, life: 'this' | 'earlier'): Promise<void> {
  if (answer.crash && life === 'this') await crash?.();
}

/** Writes a file of an answer; throws a RaymondError if that cannot be done. */
export function writeFile({ scenario, lacks }: Stage, turn: PlayedTurn, file: readonly [string, string]): void {
  const fault = writeInside(turn.cwd, ...file);
  if (fault === null) return;
  const message = `${scenario.file}: the answer for ${turn.state}: ${fault}`;
  lacks?.(message);
  throw unplayable(message);
}

/** Throws a RaymondError where an answer lets a conversation be lost that only begins: there is nothing to lose yet. */
export function mustHaveSession({ scenario, lacks }: Stage, turn: ClaudeTurn, { fail }: Answer): void {
  if (fail !== 'session_lost' || turn.record?.session?.kind !== 'new') return;
  const part = scenario.parts.get(turn.state);
  const place = part === undefined ? scenario.file : placeOf(part);
  const message = `${place}: the answer for ${turn.state}: \`fail: session_lost\` is for a turn that resumes a conversation, and this one begins it. Give it another`;
  lacks?.(message);
  throw unplayable(`${message}, then resume the run.`);
}

/** Plays a turn. If the file cannot be played, it has to be mended, and nothing of the turn counts. */
export async function unlessUnplayable<T>(
  { clock }: Stage,
  { agent }: PlayedTurn,
  play: () => Promise<T>,
): Promise<T | Failed> {
  try {
    return await play();
  } catch (error) {
    if (!(error instanceof RaymondError)) throw error;
    const failure = { kind: 'invalid_request', message: error.message } as const;
    return { kind: 'failed', at: clock.now(), agent, failure, cost: null, progress: 'none', jitter: 0 };
  }
}

const unplayable = (message: string): RaymondError => new RaymondError(message, { exitCode: EXIT.invalid });

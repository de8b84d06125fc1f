import type { Failure, FailureKind } from '../../core/failure.ts';
import type { CostReport } from '../../core/ledger.ts';
import type { Failed } from '../../core/signal.ts';
import { type CostBasis, costOf } from './cost.ts';
import { explain } from './explain.ts';
import { failureOfResult, failureOfStderr, type Named } from './failure.ts';
import type { Transcript } from './transcript.ts';
import { limitUntilMs } from './usage-limit.ts';

/** How a process came to its end: by itself, because we ended it, or while nobody was there to see it. */
export type Ending = 'itself' | 'timeout' | 'hung' | 'stopped' | 'gone';

/** A turn of Claude Code that is over, and all that there is to judge it by. */
export interface EndedTurn {
  readonly transcript: Transcript;
  readonly ending: Ending;
  /** Null if a signal ended it, or if nobody knows. */
  readonly exitCode: number | null;
  /** The end of what it printed there. */
  readonly stderr: string;
  /** What to say if it was silent for too long. */
  readonly silence: string;
  /** Whether its conversation is on disk, so that it can be resumed. */
  readonly resumable: boolean;
  readonly endedAtMs: number;
  /** How often a usage limit without a time has been met in a row before this turn. */
  readonly probes: number;
  readonly cost: CostBasis;
}

/** What became of a turn, short of what only the workflow can tell. */
export type Outcome =
  | {
      readonly kind: 'answered';
      readonly text: string;
      readonly denials: readonly string[];
      readonly cost: CostReport;
    }
  | {
      readonly kind: 'failed';
      readonly failure: Failure;
      readonly progress: Failed['progress'];
      readonly cost: CostReport;
    };

/**
 * Judges a turn. It is done if a result says so, whatever the process did afterwards, and for no other reason: an exit
 * code of zero proves nothing.
 */
export function outcomeOf(turn: EndedTurn): Outcome {
  const cost = costOf(turn.transcript, turn.cost);
  const text = answerOf(turn.transcript);
  if (text !== null) return { kind: 'answered', text, denials: turn.transcript.ownResult?.denials ?? [], cost };
  const { kind, said } = whyNot(turn);
  const failure: Failure = { kind, message: explain(kind, said), ...until(kind, said, turn) };
  return { kind: 'failed', failure, progress: progressOf(turn, kind), cost };
}

/** The answer, if the turn was a success. One without a word from any model is none. */
function answerOf({ ownResult, lastText, answered }: Transcript): string | null {
  if (ownResult === null || ownResult.isError) return null;
  const text = ownResult.text || lastText?.text || '';
  return text !== '' || answered ? text : null;
}

/** Why a turn failed, in Claude Code's own words as far as there are any. */
function whyNot({ transcript, ending, exitCode, stderr, silence }: EndedTurn): Named {
  const { ownResult, opened } = transcript;
  if (ending === 'stopped') return { kind: 'stopped', said: '' };
  if (ownResult?.isError) return failureOfResult(ownResult, transcript);
  if (ending === 'timeout') return { kind: 'timeout', said: silence };
  const refused = opened ? null : failureOfStderr(stderr, exitCode);
  if (refused !== null) return refused;
  if (ending === 'gone') return { kind: 'lost', said: '' };
  const lastWords = quoted(stderr) || printed(transcript);
  return { kind: 'transient', said: `${howItEnded(exitCode, ownResult !== null)}${lastWords}` };
}

function howItEnded(exitCode: number | null, hadResult: boolean): string {
  const how = exitCode === null ? 'Claude Code was killed' : `Claude Code ended (exit code ${exitCode})`;
  return hadResult ? `${how} with an empty answer` : `${how} without a result`;
}

function quoted(stderr: string): string {
  const last = stderr.trim().split('\n').at(-1)?.trim() ?? '';
  return last === '' ? '' : `; its last words were: ${last}`;
}

/** Where it prints something else than events, cut off ones aside, it may not be Claude Code, or something speaks before it. */
function printed({ strays }: Transcript): string {
  const words = strays.map((line) => line.trim()).filter((line) => !line.startsWith('{'));
  return words.length === 0 ? '' : `; it printed what is no event: ${words.join(' / ')}`;
}

/** What is left of the turn's conversation; if it was never opened, whatever is on disk is not of this turn. */
function progressOf({ transcript, resumable }: EndedTurn, kind: FailureKind): Failed['progress'] {
  if (!resumable || !transcript.opened || kind === 'session_lost') return 'none';
  return transcript.answered ? 'answer' : 'prompt';
}

function until(kind: FailureKind, said: string, turn: EndedTurn): { untilMs?: number } {
  if (kind !== 'usage_limit') return {};
  const resetsAt = turn.transcript.limit?.resetsAt ?? null;
  return { untilMs: limitUntilMs({ resetsAt, text: said }, turn.endedAtMs, turn.probes) };
}

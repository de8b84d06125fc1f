import type { CostReport } from '../../core/run/ledger.ts';
import type { Failed } from '../../core/signals/signal.ts';
import type { Failure, FailureKind } from '../../language/failure.ts';
import { saysDiskIsFull } from '../../process/full-disk.ts';
import { type CostBaseline, computeTurnCost } from './cost.ts';
import type { ResultEvent } from './event.ts';
import {
  type ClassifiedFailure,
  classifyResultFailure,
  classifyStderrFailure,
  explainFailure,
  isFailureInDisguise,
} from './failure.ts';
import type { Transcript } from './transcript.ts';
import { limitUntilMs } from './usage-limit.ts';

/** Why a process ended: by itself, because we ended it, or (`gone`) while no Raymond was watching. */
export type TurnEndCause = 'exited' | 'timeout' | 'hung' | 'hopeless' | 'overspent' | 'stopped' | 'gone';

/** A turn of Claude Code that is over, with everything that its outcome depends on. */
export interface EndedTurn {
  readonly transcript: Transcript;
  /** True if it was to summarize the conversation. */
  readonly isCompaction?: boolean;
  readonly endCause: TurnEndCause;
  /** Null if a signal ended it, or if it is not known. */
  readonly exitCode: number | null;
  /** The last lines of stderr. */
  readonly stderr: string;
  /** True if a full disk kept part of its output from being written. */
  readonly outputLost: boolean;
  /** The message for the case that it was silent for too long. */
  readonly timeoutMessage: string;
  /** True if its conversation is on disk, so that it can be resumed. */
  readonly resumable: boolean;
  readonly endedAtMs: number;
  /** How many usage limits without a time were met in a row before this turn. */
  readonly priorLimits: number;
  /** A random number from 0 up to 1, by which the try after a usage limit is put off; none for 0. */
  readonly jitter?: number;
  readonly costBaseline: CostBaseline;
}

/** The outcome of a turn, without what only the workflow knows. */
export type ClaudeOutcome =
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
      readonly denials?: readonly string[];
      readonly cost: CostReport;
    };

/**
 * Judges a turn. It is done if a result says so, whatever the process did afterwards, and for no other reason: an exit
 * code of zero proves nothing.
 */
export function judgeClaudeTurn(ended: EndedTurn): ClaudeOutcome {
  const computed = computeTurnCost(ended.transcript, ended.costBaseline);
  const turn = { ...ended, transcript: { ...ended.transcript, ...ended.transcript.atOwnResult } };
  // Its last output may be lost, and with it a part of the cost.
  const cost: CostReport = turn.outputLost ? { ...computed, kind: 'estimated' } : computed;
  const text = turn.isCompaction === true ? judgeCompaction(turn.transcript) : findAnswer(turn.transcript);
  const denials = turn.transcript.ownResult?.denials ?? [];
  if (text !== null) return { kind: 'answered', text, denials, cost };
  const { kind, detail } = classifyFailure(turn);
  const failure: Failure = { kind, message: explainFailure(kind, detail), ...limitReset(kind, detail, turn) };
  const progress = findProgress(turn, kind);
  return { kind: 'failed', failure, progress, cost, ...(denials.length > 0 && { denials }) };
}

/** The answer of a turn that was to summarize the conversation: empty if it did, else why it did not; null if it failed. */
function judgeCompaction(transcript: Transcript): string | null {
  const { ownResult, compacted } = transcript;
  if (compacted && ownResult !== null) return '';
  if (ownResult === null || isFailedResult(ownResult, transcript)) return null;
  return ownResult.text || 'Claude Code said nothing about it';
}

/** The answer, if the turn was a success. An empty text counts only if a model has answered. */
function findAnswer(transcript: Transcript): string | null {
  const { ownResult, lastText, answered } = transcript;
  if (ownResult === null || isFailedResult(ownResult, transcript)) return null;
  const text = ownResult.text || lastText?.text || '';
  return text !== '' || answered ? text : null;
}

const isFailedResult = (result: ResultEvent, transcript: Transcript): boolean =>
  result.isError || isFailureInDisguise(result, transcript);

/** Finds out why a turn failed, with Claude Code's own message if there is one. */
function classifyFailure(turn: EndedTurn): ClassifiedFailure {
  const { transcript, endCause, exitCode, stderr, timeoutMessage } = turn;
  const { ownResult, opened } = transcript;
  if (endCause === 'stopped') return { kind: 'stopped', detail: '' };
  if (ownResult !== null && isFailedResult(ownResult, transcript)) return classifyResultFailure(ownResult, transcript);
  if (ownResult === null && (turn.outputLost || saysDiskIsFull(stderr))) return { kind: 'disk', detail: '' };
  if (endCause === 'hopeless') return { kind: 'authentication', detail: 'the API refused its key or login twice.' };
  if (endCause === 'overspent') return { kind: 'budget', detail: 'its share of it is spent.' };
  if (endCause === 'timeout') return { kind: 'timeout', detail: timeoutMessage };
  const startupFailure = opened ? null : classifyStderrFailure(stderr, exitCode);
  if (startupFailure !== null) return startupFailure;
  if (endCause === 'gone') return { kind: 'lost', detail: '' };
  const lastOutput = quoteLastLine(stderr) || quoteStrayLines(transcript);
  return { kind: 'transient', detail: `${describeExit(exitCode, ownResult !== null)}${lastOutput}` };
}

function describeExit(exitCode: number | null, hadResult: boolean): string {
  const how = exitCode === null ? 'Claude Code was killed' : `Claude Code ended (exit code ${exitCode})`;
  return hadResult ? `${how} with an empty answer` : `${how} without a result`;
}

function quoteLastLine(stderr: string): string {
  const last = stderr.trim().split('\n').at(-1)?.trim() ?? '';
  return last === '' ? '' : `; its last words were: ${last}`;
}

/** Quotes lines that are no events: the program may not be Claude Code, or something else may print into its output. */
function quoteStrayLines({ strayLines }: Transcript): string {
  const lines = strayLines.map((line) => line.trim()).filter((line) => !line.startsWith('{'));
  return lines.length === 0 ? '' : `; it printed what is no event: ${lines.join(' / ')}`;
}

/** The part of the conversation that can be resumed. If it was never opened, a file on disk is not of this turn. */
function findProgress({ transcript, resumable }: EndedTurn, kind: FailureKind): Failed['progress'] {
  if (!resumable || !transcript.opened || kind === 'session_lost') return 'none';
  return transcript.answered ? 'answer' : 'prompt';
}

function limitReset(kind: FailureKind, detail: string, turn: EndedTurn): { untilMs?: number } {
  if (kind !== 'usage_limit') return {};
  const resetsAt = turn.transcript.limit?.resetsAt ?? null;
  return { untilMs: limitUntilMs({ resetsAt, text: detail }, turn.endedAtMs, turn.priorLimits, turn.jitter) };
}

import type { TurnRef } from '../../core/turns/due.ts';
import { isPrompt } from '../../language/state-names.ts';
import { splitChunks } from '../../process/lines.ts';
import type { LogEntry } from '../../render/turn-renderer.ts';
import type { OutputChunk, RunStorage, TurnStream } from '../../storage/storage.ts';
import { createActivityReader } from '../../turns/claude/activity.ts';
import { parseClaudeBytes } from '../../turns/claude/event.ts';

/** The output of a turn, and how to show it. */
export interface TurnLog {
  readonly read: (stream: TurnStream, until?: Promise<unknown>) => AsyncIterable<OutputChunk>;
  readonly state: string;
  /** True if it failed: then the stderr of Claude Code is shown, too. */
  readonly failed: boolean;
  /** The name of a stream for people. */
  readonly nameOf: (stream: TurnStream) => string;
}

/** The output of a turn whose end is of no interest. */
export const toTurnLog = (run: string, { output }: RunStorage, turn: TurnRef): TurnLog => ({
  read: (stream, until) => output.read(run, turn, stream, until),
  state: turn.state,
  failed: false,
  nameOf: (stream) => stream,
});

/** How many lines of a long output are shown: its beginning and its end. */
interface LineLimits {
  readonly head: number;
  readonly tail: number;
}

const PROMPT_LIMITS: LineLimits = { head: 20, tail: 0 };
const OUTPUT_LIMITS: LineLimits = { head: 20, tail: 20 };
const FAILURE_STDERR_LIMITS: LineLimits = { head: 0, tail: 10 };

/** Reads the log entries of a turn, in order; holds little of its files at a time. */
export async function* readLogEntries(turn: TurnLog): AsyncGenerator<LogEntry> {
  if (!isPrompt(turn.state)) {
    yield* readAbridged('stdout', OUTPUT_LIMITS, stdoutEntry, turn);
    yield* readAbridged('stderr', OUTPUT_LIMITS, stderrEntry, turn);
    return;
  }
  yield* readPromptEntries(turn);
  const read = createActivityReader();
  for await (const line of splitChunks(turn.read('stdout'))) yield* read(parseClaudeBytes(line));
  yield* readFailureStderr(turn);
}

/** Follows the log entries of a running turn until its end is known. */
export async function followLogEntries(
  turn: TurnLog,
  until: Promise<unknown>,
  emit: (entry: LogEntry) => void,
): Promise<void> {
  if (!isPrompt(turn.state)) {
    const follow = async (stream: TurnStream, toEntry: (text: string) => LogEntry): Promise<void> => {
      for await (const line of splitChunks(turn.read(stream, until))) emit(toEntry(line.toString('utf8')));
    };
    await Promise.all([follow('stdout', stdoutEntry), follow('stderr', stderrEntry)]);
    return;
  }
  for await (const entry of readPromptEntries(turn, until)) emit(entry);
  const read = createActivityReader();
  for await (const line of splitChunks(turn.read('stdout', until))) read(parseClaudeBytes(line)).forEach(emit);
}

/** Reads the stderr of Claude Code in a turn that failed. */
export async function* readFailureStderr(turn: TurnLog): AsyncGenerator<LogEntry> {
  if (turn.failed && isPrompt(turn.state)) yield* readAbridged('stderr', FAILURE_STDERR_LIMITS, stderrEntry, turn);
}

const readPromptEntries = (turn: TurnLog, until?: Promise<unknown>): AsyncGenerator<LogEntry> =>
  readAbridged('stdin', PROMPT_LIMITS, (text) => ({ kind: 'asked', text }), turn, until);

const stdoutEntry = (text: string): LogEntry => ({ kind: 'prints', text });
const stderrEntry = (text: string): LogEntry => ({ kind: 'prints', text, isError: true });

/** Reads the lines of a stream, without those in the middle of a long one. */
async function* readAbridged(
  stream: TurnStream,
  { head, tail }: LineLimits,
  toEntry: (text: string) => LogEntry,
  { read, nameOf }: TurnLog,
  until?: Promise<unknown>,
): AsyncGenerator<LogEntry> {
  let count = 0;
  const tailLines: Buffer[] = [];
  for await (const line of splitChunks(read(stream, until))) {
    count += 1;
    if (count <= head) yield toEntry(line.toString('utf8'));
    else if (tail > 0) tailLines.push(line);
    if (tailLines.length > tail) tailLines.shift();
  }
  const lines = count - Math.min(count, head) - tailLines.length;
  if (lines > 0) yield { kind: 'left_out', lines, file: nameOf(stream) };
  for (const line of tailLines) yield toEntry(line.toString('utf8'));
}

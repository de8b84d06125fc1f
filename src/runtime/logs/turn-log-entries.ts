import { isPrompt } from '../../core/state-names.ts';
import type { LogEntry } from '../../events/turn-renderer.ts';
import { followLines, readLines } from '../../process/lines.ts';
import { turnFiles } from '../../process/turn-files.ts';
import { createActivityReader } from '../../turns/claude/activity.ts';
import { parseClaudeBytes } from '../../turns/claude/parse-event.ts';

/** The files of a turn, and how to show them. */
export interface TurnLog {
  readonly folder: string;
  readonly state: string;
  /** Whether it failed: then the stderr of Claude Code is shown, too. */
  readonly failed: boolean;
  /** How a path is shown. */
  readonly displayPath: (path: string) => string;
}

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
  const { stdout, stderr } = turnFiles(turn.folder);
  if (!isPrompt(turn.state)) {
    yield* readAbridged(stdout, OUTPUT_LIMITS, stdoutEntry, turn);
    yield* readAbridged(stderr, OUTPUT_LIMITS, stderrEntry, turn);
    return;
  }
  yield* readPromptEntries(turn);
  const read = createActivityReader();
  for await (const line of readLines(stdout)) yield* read(parseClaudeBytes(line));
  yield* readFailureStderr(turn);
}

/** Follows the log entries of a running turn until its end is known. */
export async function followLogEntries(
  turn: TurnLog,
  until: Promise<unknown>,
  emit: (entry: LogEntry) => void,
): Promise<void> {
  const { stdout, stderr } = turnFiles(turn.folder);
  if (!isPrompt(turn.state)) {
    const follow = (file: string, toEntry: (text: string) => LogEntry): Promise<void> =>
      followLines(file, (line) => emit(toEntry(line.toString('utf8'))), { until });
    await Promise.all([follow(stdout, stdoutEntry), follow(stderr, stderrEntry)]);
    return;
  }
  for await (const entry of readPromptEntries(turn)) emit(entry);
  const read = createActivityReader();
  const onLine = (line: Buffer): void => read(parseClaudeBytes(line)).forEach(emit);
  await followLines(stdout, onLine, { until });
}

/** Reads the stderr of Claude Code in a turn that failed. */
export async function* readFailureStderr(turn: TurnLog): AsyncGenerator<LogEntry> {
  if (turn.failed && isPrompt(turn.state))
    yield* readAbridged(turnFiles(turn.folder).stderr, FAILURE_STDERR_LIMITS, stderrEntry, turn);
}

const readPromptEntries = (turn: TurnLog): AsyncGenerator<LogEntry> =>
  readAbridged(turnFiles(turn.folder).stdin, PROMPT_LIMITS, (text) => ({ kind: 'asked', text }), turn);

const stdoutEntry = (text: string): LogEntry => ({ kind: 'prints', text });
const stderrEntry = (text: string): LogEntry => ({ kind: 'prints', text, isError: true });

/** Reads the lines of a file, without those in the middle of a long one. */
async function* readAbridged(
  file: string,
  { head, tail }: LineLimits,
  toEntry: (text: string) => LogEntry,
  { displayPath }: TurnLog,
): AsyncGenerator<LogEntry> {
  let count = 0;
  const tailLines: Buffer[] = [];
  for await (const line of readLines(file)) {
    count += 1;
    if (count <= head) yield toEntry(line.toString('utf8'));
    else if (tail > 0) tailLines.push(line);
    if (tailLines.length > tail) tailLines.shift();
  }
  const lines = count - Math.min(count, head) - tailLines.length;
  if (lines > 0) yield { kind: 'left_out', lines, file: displayPath(file) };
  for (const line of tailLines) yield toEntry(line.toString('utf8'));
}

import type { TurnRef } from '../../core/turns/due.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import { splitChunks } from '../../process/lines.ts';
import type { LogEntry } from '../../render/turn-renderer.ts';
import { type OutputChunk, type RunStorage, TURN_STREAMS, type TurnStream } from '../../storage/storage.ts';
import { createActivityReader } from '../../turns/claude/activity.ts';
import { parseClaudeBytes } from '../../turns/claude/event.ts';
import { addClaudeEvent, EMPTY_TRANSCRIPT } from '../../turns/claude/transcript.ts';
import { readLogEntries, toTurnLog } from '../logs/turn-log-entries.ts';
import { isShownLive, MAX_DELTA_ENTRIES, type TurnDelta } from './turn-deltas.ts';

/** A text of a turn, and whether there is more of it on disk. */
interface TurnText {
  readonly text: string;
  readonly isCut: boolean;
}

/** The facts in the files of a turn. */
interface TurnDetail {
  /** The prompt as it was sent; null for a script. */
  readonly prompt: TurnText | null;
  /** The final answer, or the output of a script. */
  readonly answer: TurnText;
  readonly stderr: TurnText;
  /** The activity of Claude, in order; empty for a script. */
  readonly entries: readonly LogEntry[];
  readonly entriesLeftOut: number;
  /** The files that its tools were to change. */
  readonly changedFiles: readonly string[];
}

const MAX_TEXT_BYTES = 1 << 20;
const MAX_ENTRIES = 5_000;
const CHANGING_TOOLS: ReadonlySet<string> = new Set(['Edit', 'MultiEdit', 'Write', 'NotebookEdit']);

/** Reads the files of a turn, as much of them as a person looks at. Throws if they are gone. */
export async function readTurnDetail(
  runRef: string,
  { runs, output }: RunStorage,
  turn: { readonly agent: string; readonly number: number },
): Promise<TurnDetail> {
  const id = await runs.resolve(runRef);
  const sizes = await output.sizes(id, turn);
  if (Object.keys(sizes).length === 0) {
    throw new RaymondError(`the files of turn ${turn.number} of ${turn.agent} are not there`, {
      exitCode: EXIT.usage,
      hint: 'A run with --no-debug keeps no files of its turns.',
    });
  }
  const open = (stream: TurnStream): AsyncIterable<OutputChunk> => output.read(id, turn, stream);
  const readStream = (stream: TurnStream): Promise<TurnText | null> =>
    sizes[stream] === undefined ? Promise.resolve(null) : readStart(open(stream));
  const [prompt, stdout, stderr] = await Promise.all(TURN_STREAMS.map(readStream));
  const empty = { text: '', isCut: false };
  const activity = await readActivity(open('stdout'));
  if (activity === null)
    return {
      prompt: null,
      answer: stdout ?? empty,
      stderr: stderr ?? empty,
      entries: [],
      entriesLeftOut: 0,
      changedFiles: [],
    };
  return { prompt: prompt ?? empty, stderr: stderr ?? empty, ...activity };
}

/** The output of Claude Code; null if it is not Claude Code's. */
async function readActivity(
  output: AsyncIterable<OutputChunk>,
): Promise<Pick<TurnDetail, 'answer' | 'entries' | 'entriesLeftOut' | 'changedFiles'> | null> {
  const read = createActivityReader();
  let transcript = EMPTY_TRANSCRIPT;
  const entries: LogEntry[] = [];
  const changedFiles = new Set<string>();
  let entriesLeftOut = 0;
  for await (const line of splitChunks(output)) {
    const event = parseClaudeBytes(line);
    transcript = addClaudeEvent(transcript, event);
    for (const entry of read(event)) {
      if (entry.kind === 'uses' && CHANGING_TOOLS.has(entry.tool)) changedFiles.add(entry.detail);
      if (entries.length < MAX_ENTRIES) entries.push(entry);
      else entriesLeftOut += 1;
    }
  }
  if (!transcript.opened && transcript.lastResult === null) return null;
  const text = transcript.ownResult?.text || transcript.lastText?.text || '';
  return {
    answer: { text: text.slice(0, MAX_TEXT_BYTES), isCut: text.length > MAX_TEXT_BYTES },
    entries,
    entriesLeftOut,
    changedFiles: [...changedFiles],
  };
}

async function readStart(chunks: AsyncIterable<OutputChunk>): Promise<TurnText> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const { bytes } of chunks) {
    parts.push(bytes);
    size += bytes.length;
    if (size > MAX_TEXT_BYTES) break;
  }
  const text = Buffer.concat(parts).subarray(0, MAX_TEXT_BYTES).toString('utf8');
  return { text, isCut: size > MAX_TEXT_BYTES };
}

/** The last activity of ended turns, as their watchers saw it; turns without files have none. */
export async function readSaidTurns(
  id: string,
  storage: RunStorage,
  turns: readonly TurnRef[],
): Promise<readonly TurnDelta[]> {
  const said: TurnDelta[] = [];
  for (const turn of turns) {
    let latest: LogEntry[] = [];
    let count = 0;
    try {
      for await (const entry of readLogEntries(toTurnLog(id, storage, turn))) {
        if (!isShownLive(entry)) continue;
        count += 1;
        latest.push(entry);
        if (latest.length > 2 * MAX_DELTA_ENTRIES) latest = latest.slice(-MAX_DELTA_ENTRIES);
      }
    } catch {}
    const entries = latest.slice(-MAX_DELTA_ENTRIES);
    if (entries.length > 0) said.push({ ...turn, first: count - entries.length, entries });
  }
  return said;
}

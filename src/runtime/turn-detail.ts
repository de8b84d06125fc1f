import { open } from 'node:fs/promises';
import { EXIT, RaymondError } from '../errors.ts';
import type { LogEntry } from '../events/turn-renderer.ts';
import { readLines } from '../process/lines.ts';
import { turnFiles } from '../process/turn-files.ts';
import { createActivityReader } from '../turns/claude/activity.ts';
import { parseClaudeBytes } from '../turns/claude/parse-event.ts';
import { addClaudeEvent, EMPTY_TRANSCRIPT } from '../turns/claude/transcript.ts';
import { openRuns, type RunLocation } from './open-runs.ts';

/** A text of a turn, and whether there is more of it on disk. */
export interface TurnText {
  readonly text: string;
  readonly isCut: boolean;
}

/** What the files of a turn tell. */
export interface TurnDetail {
  /** The prompt as it was sent; null for a script. */
  readonly prompt: TurnText | null;
  /** The final answer, or the output of a script. */
  readonly answer: TurnText;
  readonly stderr: TurnText;
  /** What Claude said and did, in order; empty for a script. */
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
  location: RunLocation,
  turn: { readonly agent: string; readonly number: number },
): Promise<TurnDetail> {
  const runs = openRuns(location);
  const folder = await runs.findTurnFolder(await runs.resolveRunId(runRef), turn);
  if (folder === null) {
    throw new RaymondError(`the files of turn ${turn.number} of ${turn.agent} are not there`, {
      exitCode: EXIT.usage,
      hint: 'A run with --no-debug keeps no files of its turns.',
    });
  }
  const files = turnFiles(folder);
  const [prompt, stdout, stderr] = await Promise.all([files.stdin, files.stdout, files.stderr].map(readStart));
  const empty = { text: '', isCut: false };
  const activity = await readActivity(files.stdout);
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

/** What Claude Code printed; null if the output is not Claude Code's. */
async function readActivity(
  file: string,
): Promise<Pick<TurnDetail, 'answer' | 'entries' | 'entriesLeftOut' | 'changedFiles'> | null> {
  const read = createActivityReader();
  let transcript = EMPTY_TRANSCRIPT;
  const entries: LogEntry[] = [];
  const changedFiles = new Set<string>();
  let entriesLeftOut = 0;
  for await (const line of readLines(file)) {
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

async function readStart(file: string): Promise<TurnText | null> {
  const handle = await open(file).catch(() => null);
  if (handle === null) return null;
  try {
    const { size } = await handle.stat();
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.min(size, MAX_TEXT_BYTES)), 0, undefined, 0);
    return { text: buffer.subarray(0, bytesRead).toString('utf8'), isCut: size > MAX_TEXT_BYTES };
  } finally {
    await handle.close();
  }
}

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { turnRefOf } from '../core/due.ts';
import { isPrompt } from '../core/state-names.ts';
import type { PastTurn, ShownAnswer, StateTurns, TurnsByState } from '../drawing/state-turns.ts';
import { turnFiles } from '../process/turn-files.ts';
import { parseClaudeBytes } from '../turns/claude/parse-event.ts';
import { addClaudeEvent, EMPTY_TRANSCRIPT } from '../turns/claude/transcript.ts';

/** The answer is in the last lines of a turn's output, so no more of it is read. */
const MAX_READ_BYTES = 1 << 20;
const MAX_ANSWER_LENGTH = 4_000;
/** What all answers of a page may have together. */
const MAX_PAGE_LENGTH = 2_000_000;

/** Adds to each turn what it said, from its files: as much as a page should hold. */
export function addAnswers(states: TurnsByState, folderOf: (turn: PastTurn) => string): TurnsByState {
  let left = MAX_PAGE_LENGTH;
  const addAnswer = (turn: PastTurn): PastTurn => {
    const answer = left <= 0 ? null : readAnswer(folderOf(turn), turnRefOf(turn.end).state);
    left -= answer?.text.length ?? 0;
    return { ...turn, answer };
  };
  const addToState = ({ turns, leftOut }: StateTurns): StateTurns => ({ turns: turns.map(addAnswer), leftOut });
  return new Map(Array.from(states, ([state, turns]) => [state, addToState(turns)]));
}

/** The answer of a prompt, or the end of a script's output; null if its file is gone. */
function readAnswer(folder: string, state: string): ShownAnswer | null {
  const end = readEnd(turnFiles(folder).stdout);
  if (end === null) return null;
  if (!isPrompt(state)) return cutBefore(end.bytes.toString('utf8').trimEnd(), !end.isWhole);
  let transcript = EMPTY_TRANSCRIPT;
  for (const line of splitLines(end.bytes, end.isWhole))
    transcript = addClaudeEvent(transcript, parseClaudeBytes(line));
  return cutAfter((transcript.ownResult?.text || transcript.lastText?.text || '').trim());
}

const cutAfter = (text: string): ShownAnswer => ({
  text: text.slice(0, MAX_ANSWER_LENGTH),
  isCut: text.length > MAX_ANSWER_LENGTH,
});

const cutBefore = (text: string, isCut: boolean): ShownAnswer => ({
  text: text.slice(-MAX_ANSWER_LENGTH),
  isCut: isCut || text.length > MAX_ANSWER_LENGTH,
});

/** The lines of the end of a file; its first is not complete, unless the file begins there. */
function* splitLines(bytes: Buffer, isWhole: boolean): Generator<Buffer> {
  let start = isWhole ? 0 : bytes.indexOf('\n') + 1;
  for (let end = bytes.indexOf('\n', start); end >= 0; end = bytes.indexOf('\n', start)) {
    yield bytes.subarray(start, end);
    start = end + 1;
  }
  if (start < bytes.length) yield bytes.subarray(start);
}

function readEnd(file: string): { readonly bytes: Buffer; readonly isWhole: boolean } | null {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch {
    return null;
  }
  try {
    const { size } = fstatSync(descriptor);
    const bytes = Buffer.alloc(Math.min(size, MAX_READ_BYTES));
    const count = readSync(descriptor, bytes, 0, bytes.length, size - bytes.length);
    return { bytes: bytes.subarray(0, count), isWhole: size === bytes.length };
  } catch {
    return null;
  } finally {
    closeSync(descriptor);
  }
}

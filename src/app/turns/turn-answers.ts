import { type TurnRef, turnRefOf } from '../../core/turns/due.ts';
import type { PastTurn, ShownAnswer, StateTurns, TurnsByState } from '../../drawing/state-turns.ts';
import { isPrompt } from '../../language/state-names.ts';
import type { OutputChunk } from '../../storage/storage.ts';
import { parseClaudeBytes } from '../../turns/claude/event.ts';
import { addClaudeEvent, EMPTY_TRANSCRIPT } from '../../turns/claude/transcript.ts';

/** The answer is in the last lines of a turn's output, so no more of it is read. */
const MAX_READ_BYTES = 1 << 20;
const MAX_ANSWER_LENGTH = 4_000;
/** The size limit of all answers of a page together. */
const MAX_PAGE_LENGTH = 2_000_000;

/** Adds to each turn what it said: as much as a page should hold. */
export async function addAnswers(
  states: TurnsByState,
  read: (turn: TurnRef) => AsyncIterable<OutputChunk>,
): Promise<TurnsByState> {
  let left = MAX_PAGE_LENGTH;
  const added = new Map<string, StateTurns>();
  for (const [state, { turns, leftOut }] of states) {
    const answered: PastTurn[] = [];
    for (const turn of turns) {
      const answer = left <= 0 ? null : await readAnswer(read(turnRefOf(turn.end)), turnRefOf(turn.end).state);
      left -= answer?.text.length ?? 0;
      answered.push({ ...turn, answer });
    }
    added.set(state, { turns: answered, leftOut });
  }
  return added;
}

/** The answer of a prompt, or the end of a script's output; null if there is none. */
async function readAnswer(chunks: AsyncIterable<OutputChunk>, state: string): Promise<ShownAnswer | null> {
  const end = await readEnd(chunks).catch(() => null);
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

/** The last bytes of a stream; null if it does not exist. */
async function readEnd(
  chunks: AsyncIterable<OutputChunk>,
): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean } | null> {
  let parts: Buffer[] = [];
  let size = 0;
  let isWhole = true;
  let exists = false;
  for await (const { bytes } of chunks) {
    exists = true;
    parts.push(bytes);
    size += bytes.length;
    if (size <= 2 * MAX_READ_BYTES) continue;
    parts = [Buffer.concat(parts).subarray(-MAX_READ_BYTES)];
    size = MAX_READ_BYTES;
    isWhole = false;
  }
  if (!exists) return null;
  return { bytes: Buffer.concat(parts).subarray(-MAX_READ_BYTES), isWhole: isWhole && size <= MAX_READ_BYTES };
}

import { isPrompt } from '../core/names.ts';
import type { Passage } from '../observers/passage.ts';
import { followLines, readLines } from '../process/lines.ts';
import { turnFiles } from '../process/turn-files.ts';
import { newReader } from '../turns/claude/activity.ts';
import { readEvent } from '../turns/claude/events.ts';

/** A turn as its files hold it. */
export interface TurnTrace {
  readonly folder: string;
  readonly state: string;
  /** Whether it failed: then what Claude Code said on the side matters. */
  readonly failed: boolean;
  /** How a path is shown. */
  readonly shown: (path: string) => string;
}

/** How many lines are told of a long output: its beginning and its end. */
interface Extent {
  readonly head: number;
  readonly tail: number;
}

const PROMPT: Extent = { head: 20, tail: 0 };
const OUTPUT: Extent = { head: 20, tail: 20 };
const ASIDE: Extent = { head: 0, tail: 10 };

/** What a turn left behind, in order. However much that is, only a little of it is held at a time. */
export async function* passagesOf(turn: TurnTrace): AsyncGenerator<Passage> {
  const { stdout, stderr } = turnFiles(turn.folder);
  if (!isPrompt(turn.state)) {
    yield* abridged(stdout, OUTPUT, prints, turn);
    yield* abridged(stderr, OUTPUT, printsError, turn);
    return;
  }
  yield* promptOf(turn);
  const read = newReader();
  for await (const line of readLines(stdout)) yield* read(readEvent(line.toString('utf8')));
  yield* asideOf(turn);
}

/** What a turn does, as it comes, until its end is known. */
export async function followPassages(
  turn: TurnTrace,
  until: Promise<unknown>,
  tell: (passage: Passage) => void,
): Promise<void> {
  const { stdout, stderr } = turnFiles(turn.folder);
  if (!isPrompt(turn.state)) {
    const follow = (file: string, make: (text: string) => Passage): Promise<void> =>
      followLines(file, (line) => tell(make(line.toString('utf8'))), { until });
    await Promise.all([follow(stdout, prints), follow(stderr, printsError)]);
    return;
  }
  for await (const passage of promptOf(turn)) tell(passage);
  const read = newReader();
  const listen = (line: Buffer): void => read(readEvent(line.toString('utf8'))).forEach(tell);
  await followLines(stdout, listen, { until });
}

/** What Claude Code muttered in a turn that failed. */
export async function* asideOf(turn: TurnTrace): AsyncGenerator<Passage> {
  if (turn.failed && isPrompt(turn.state)) yield* abridged(turnFiles(turn.folder).stderr, ASIDE, printsError, turn);
}

const promptOf = (turn: TurnTrace): AsyncGenerator<Passage> =>
  abridged(turnFiles(turn.folder).stdin, PROMPT, (text) => ({ kind: 'asked', text }), turn);

const prints = (text: string): Passage => ({ kind: 'prints', text });
const printsError = (text: string): Passage => ({ kind: 'prints', text, isError: true });

/** The lines of a file, but for those in the middle of a long one. */
async function* abridged(
  file: string,
  { head, tail }: Extent,
  make: (text: string) => Passage,
  { shown }: TurnTrace,
): AsyncGenerator<Passage> {
  let count = 0;
  const last: Buffer[] = [];
  for await (const line of readLines(file)) {
    count += 1;
    if (count <= head) yield make(line.toString('utf8'));
    else if (tail > 0) last.push(line);
    if (last.length > tail) last.shift();
  }
  const lines = count - Math.min(count, head) - last.length;
  if (lines > 0) yield { kind: 'left_out', lines, file: shown(file) };
  for (const line of last) yield make(line.toString('utf8'));
}

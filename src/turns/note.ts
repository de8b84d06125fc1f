import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Options } from '../core/run.ts';
import type { State } from '../core/state.ts';

/** What is to be remembered about a turn while it runs, also by whoever finds it again. */
export interface Note {
  readonly timeoutMs: number | null;
  /** Where the timeout was set, in words. */
  readonly timeoutFrom: string;
}

export const NOTE_FILE = 'turn.json';

const CLAUDE_TIMEOUT_MS = 900_000;

/** The note of a turn in this state. A tool may be silent for ten minutes, and a script for as long as it likes. */
export function noteOf(state: State, options: Options): Note {
  const [ms, from] =
    state.timeoutMs !== null
      ? [state.timeoutMs, `\`timeout\` in ${state.file}`]
      : options.timeoutMs !== null
        ? [options.timeoutMs, '--timeout']
        : [state.kind === 'script' ? 0 : CLAUDE_TIMEOUT_MS, 'the default'];
  return { timeoutMs: ms === 0 ? null : ms, timeoutFrom: from };
}

/** The note in a turn's folder. It was written by us before the turn began. */
export async function readNote(dir: string): Promise<Note> {
  return JSON.parse(await readFile(join(dir, NOTE_FILE), 'utf8')) as Note;
}

/** What a turn that was silent for too long is told, and its user. */
export const silenceOf = ({ timeoutMs, timeoutFrom }: Note): string =>
  `no output for ${(timeoutMs ?? 0) / 1000} s, the limit set by ${timeoutFrom}`;

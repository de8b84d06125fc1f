import { readFileSync } from 'node:fs';
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
        ? [options.timeoutMs, '--timeout or the config file']
        : [state.kind === 'script' ? 0 : CLAUDE_TIMEOUT_MS, 'the default'];
  return { timeoutMs: ms === 0 ? null : ms, timeoutFrom: from };
}

/**
 * The note in a turn's folder, where we wrote it before the turn began. There is none for a script without a timeout.
 * Else only a power cut can have lost or torn it, and then nothing of the turn runs that could be silent for too long.
 */
export function readNote(dir: string): Note {
  try {
    return JSON.parse(readFileSync(join(dir, NOTE_FILE), 'utf8')) as Note;
  } catch {
    return { timeoutMs: null, timeoutFrom: 'nobody' };
  }
}

/** What a turn that was silent for too long is told, and its user. */
export const silenceOf = ({ timeoutMs, timeoutFrom }: Note): string =>
  `no output for ${(timeoutMs ?? 0) / 1000} s, the limit set by ${timeoutFrom}`;

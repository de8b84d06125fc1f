import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Options } from '../core/run.ts';
import type { State } from '../core/state.ts';

/** What is to be remembered about a turn while it runs, also by whoever finds it again. */
export interface TurnMeta {
  readonly timeoutMs: number | null;
  /** Where the timeout was set, in words. */
  readonly timeoutFrom: string;
}

export const TURN_META_FILE = 'turn.json';

const DEFAULT_CLAUDE_TIMEOUT_MS = 900_000;

/** The note of a turn in this state. A tool may be silent for ten minutes, and a script for as long as it likes. */
export function createTurnMeta(state: State, options: Options): TurnMeta {
  const [ms, from] =
    state.timeoutMs !== null
      ? [state.timeoutMs, `\`timeout\` in ${state.file}`]
      : options.timeoutMs !== null
        ? [options.timeoutMs, '--timeout or the config file']
        : [state.kind === 'script' ? 0 : DEFAULT_CLAUDE_TIMEOUT_MS, 'the default'];
  return { timeoutMs: ms === 0 ? null : ms, timeoutFrom: from };
}

/**
 * The note in a turn's folder, where we wrote it before the turn began. There is none for a script without a timeout.
 * Else only a power cut can have lost or torn it, and then nothing of the turn runs that could be silent for too long.
 */
export function readTurnMeta(dir: string): TurnMeta {
  try {
    return JSON.parse(readFileSync(join(dir, TURN_META_FILE), 'utf8')) as TurnMeta;
  } catch {
    return { timeoutMs: null, timeoutFrom: 'nobody' };
  }
}

/** What a turn that was silent for too long is told, and its user. */
export const describeTimeout = ({ timeoutMs, timeoutFrom }: TurnMeta): string =>
  `no output for ${(timeoutMs ?? 0) / 1000} s, the limit set by ${timeoutFrom}`;

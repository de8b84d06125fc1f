import { existsSync } from 'node:fs';
import type { ProcessExit } from './command.ts';
import { isTurnAlive } from './marker.ts';
import { claimStart, isRecordedUnable, readClaim, recordedExit, turnFiles } from './turn-files.ts';
import { watchFile } from './watch.ts';

/** The state of a turn's command. */
export type CommandState = ProcessExit | { readonly kind: 'alive' } | { readonly kind: 'never_started' };

/** For changes that a watch may miss: a wrapper that was killed, a network file system. */
const POLL_MS = 500;

/** Finds a turn's command. After `never_started`, it cannot start late in this folder either. */
export async function findCommand(dir: string, marker: string): Promise<CommandState> {
  for (;;) {
    // Read first: a wrapper that claims the turn only after the check is not one that the check has missed.
    const claim = readClaim(dir);
    const state = await checkCommand(dir, marker);
    // A folder that a power cut has taken away proves nothing: the command may have run.
    if (state.kind !== 'died' || claim === 'wrapper' || !existsSync(dir)) return state;
    if (claim === 'looker' || (await claimStart(dir))) return { kind: 'never_started' };
  }
}

/** Waits for the end of a turn's command, whichever process started it. Rejects only when it is aborted. */
export async function waitForEnd(dir: string, marker: string, abort?: AbortSignal): Promise<ProcessExit> {
  abort?.throwIfAborted();
  const first = await checkCommand(dir, marker);
  if (first.kind !== 'alive') return first;
  const watch = watchFile(turnFiles(dir).started, POLL_MS);
  abort?.addEventListener('abort', watch.wake);
  try {
    for (;;) {
      abort?.throwIfAborted();
      const state = await checkCommand(dir, marker);
      if (state.kind !== 'alive') return state;
      await watch.next();
    }
  } finally {
    abort?.removeEventListener('abort', watch.wake);
    watch.close();
  }
}

/** Reads the record again when no process is found: the command may have ended in between. */
async function checkCommand(dir: string, marker: string): Promise<ProcessExit | { readonly kind: 'alive' }> {
  const recorded = recordedExit(dir);
  if (recorded !== undefined) return recorded;
  if (await isTurnAlive(dir, marker)) return { kind: 'alive' };
  const late = recordedExit(dir);
  if (late !== undefined) return late;
  return { kind: isRecordedUnable(dir) ? 'never_ran' : 'died' };
}

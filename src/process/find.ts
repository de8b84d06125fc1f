import { existsSync } from 'node:fs';
import type { ProcessExit } from './command.ts';
import { isTurnAlive } from './marker.ts';
import { claimStart, readClaim, recordedExit, turnFiles } from './turn-files.ts';
import { watchFile } from './watch.ts';

/** What became of a turn's command. */
export type CommandState = ProcessExit | { readonly kind: 'alive' } | { readonly kind: 'never_started' };

/** Only for what the watch may miss: a wrapper that was killed, a file system that tells nothing. */
const POLL_MS = 500;

/** Finds out what became of a turn. Once it says `never_started`, the command cannot start late in this folder. */
export async function findCommand(dir: string, marker: string): Promise<CommandState> {
  for (;;) {
    // Asked before we look: a wrapper that claims the turn only afterwards is not one that we have failed to find.
    const claim = readClaim(dir);
    const state = await checkCommand(dir, marker);
    // A folder that a power cut has taken away proves nothing: the command may have run.
    if (state.kind !== 'died' || claim === 'wrapper' || !existsSync(dir)) return state;
    if (claim === 'looker' || (await claimStart(dir))) return { kind: 'never_started' };
  }
}

/** Follows a turn's command to its end, whoever started it. Rejects only when it is aborted. */
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

/** The record is read again after nothing was found alive: it may have ended between the two looks. */
async function checkCommand(dir: string, marker: string): Promise<ProcessExit | { readonly kind: 'alive' }> {
  const recorded = recordedExit(dir);
  if (recorded !== undefined) return { kind: 'exited', code: recorded };
  if (await isTurnAlive(dir, marker)) return { kind: 'alive' };
  const late = recordedExit(dir);
  return late === undefined ? { kind: 'died' } : { kind: 'exited', code: late };
}

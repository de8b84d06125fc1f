import { existsSync } from 'node:fs';
import type { Exit } from './command.ts';
import { alive } from './marker.ts';
import { claimOn, claimStart, recordedExit, turnFiles } from './turn-files.ts';
import { watchFile } from './watch.ts';

/** What became of a turn's command. */
export type Found = Exit | { readonly kind: 'alive' } | { readonly kind: 'never_started' };

/** Only for what the watch may miss: a wrapper that was killed, a file system that tells nothing. */
const POLL_MS = 500;

/** Finds out what became of a turn. Once it says `never_started`, the command cannot start late in this folder. */
export async function lookFor(dir: string, marker: string): Promise<Found> {
  for (;;) {
    // Asked before we look: a wrapper that claims the turn only afterwards is not one that we have failed to find.
    const claim = claimOn(dir);
    const seen = await look(dir, marker);
    // A folder that a power cut has taken away proves nothing: the command may have run.
    if (seen.kind !== 'died' || claim === 'wrapper' || !existsSync(dir)) return seen;
    if (claim === 'looker' || (await claimStart(dir))) return { kind: 'never_started' };
  }
}

/** Follows a turn's command to its end, whoever started it. Rejects only when it is aborted. */
export async function waitForEnd(dir: string, marker: string, abort?: AbortSignal): Promise<Exit> {
  abort?.throwIfAborted();
  const first = await look(dir, marker);
  if (first.kind !== 'alive') return first;
  const watch = watchFile(turnFiles(dir).started, POLL_MS);
  abort?.addEventListener('abort', watch.wake);
  try {
    for (;;) {
      abort?.throwIfAborted();
      const seen = await look(dir, marker);
      if (seen.kind !== 'alive') return seen;
      await watch.next();
    }
  } finally {
    abort?.removeEventListener('abort', watch.wake);
    watch.close();
  }
}

/** The record is read again after nothing was found alive: it may have ended between the two looks. */
async function look(dir: string, marker: string): Promise<Exit | { readonly kind: 'alive' }> {
  const recorded = recordedExit(dir);
  if (recorded !== undefined) return { kind: 'exited', code: recorded };
  if (await alive(dir, marker)) return { kind: 'alive' };
  const late = recordedExit(dir);
  return late === undefined ? { kind: 'died' } : { kind: 'exited', code: late };
}

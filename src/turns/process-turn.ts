import { existsSync } from 'node:fs';
import type { Command, Exit } from '../process/command.ts';
import { END_GRACE_MS, endTurn } from '../process/end.ts';
import { lookFor, waitForEnd } from '../process/find.ts';
import { quietSince } from '../process/lines.ts';
import { startCommand } from '../process/start.ts';
import { turnFiles } from '../process/turn-files.ts';
import { attend, type Ending } from './attend.ts';

/** What became of a turn's process, whoever started it. */
export type ProcessEnd =
  | {
      readonly kind: 'ended';
      readonly exit: Exit;
      readonly ending: Ending;
      /** Whether it was started in an earlier life. */
      readonly adopted: boolean;
      readonly atMs: number;
    }
  | { readonly kind: 'never_started' }
  | { readonly kind: 'not_started'; readonly message: string; readonly transient: boolean };

/** How a turn's process is looked after. */
export interface Care {
  readonly marker: string;
  readonly timeoutMs: number | null;
  readonly grace: { readonly ms: number; readonly saidAll: () => boolean } | null;
  readonly kill: AbortSignal;
  /** Called once the process is known to run, with the promise of its end. */
  readonly onRunning?: (exited: Promise<unknown>) => void;
}

/** Starts a turn's command and waits for its end. */
export async function runTurn(dir: string, command: Command, care: Care): Promise<ProcessEnd> {
  // The wrapper would find that out too, but in the words of a shell.
  if (!existsSync(command.cwd)) return noFolder(command.cwd);
  const started = await startCommand(dir, command);
  return started.kind === 'started' ? lookAfter(dir, started.exited, care, false) : started;
}

const noFolder = (cwd: string): ProcessEnd => {
  return { kind: 'not_started', message: `the working directory ${cwd} does not exist`, transient: false };
};

/** Finds a turn that was started in an earlier life and waits for its end. Nothing is ever started twice. */
export async function adoptTurn(dir: string, care: Care): Promise<ProcessEnd> {
  const found = await lookFor(dir, care.marker);
  switch (found.kind) {
    case 'never_started':
      return found;
    case 'alive':
      return lookAfter(dir, waitForEnd(dir, care.marker), care, true);
    default:
      care.onRunning?.(Promise.resolve());
      return { kind: 'ended', exit: found, ending: 'itself', adopted: true, atMs: await endedWhileAway(dir) };
  }
}

async function lookAfter(dir: string, exited: Promise<Exit>, care: Care, adopted: boolean): Promise<ProcessEnd> {
  const { stdout, stderr } = turnFiles(dir);
  care.onRunning?.(exited);
  const over = await attend({
    exited,
    // Who has said all may say more, but not by muttering.
    lastHeard: () => quietSince(care.grace?.saidAll() ? [stdout] : [stdout, stderr]),
    timeoutMs: care.timeoutMs,
    grace: care.grace,
    kill: care.kill,
    end: () => endTurn(dir, care.marker, { graceMs: END_GRACE_MS }),
  });
  return { kind: 'ended', ...over, adopted, atMs: Date.now() };
}

/** When a turn ended that nobody watched: its last trace tells. */
async function endedWhileAway(dir: string): Promise<number> {
  const { started, stdout, stderr } = turnFiles(dir);
  return Math.round(await quietSince([started, stdout, stderr])) || Date.now();
}

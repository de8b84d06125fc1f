import { existsSync } from 'node:fs';
import type { ProcessCommand, ProcessExit } from '../process/command.ts';
import { END_GRACE_MS, endTurn } from '../process/end.ts';
import { findCommand, waitForEnd } from '../process/find.ts';
import { lastWriteTimeMs } from '../process/lines.ts';
import { startCommand } from '../process/start.ts';
import { turnFiles } from '../process/turn-files.ts';
import { type ProcessEndCause, supervise } from './supervise.ts';

/** What became of a turn's process, whoever started it. */
export type ProcessEnd =
  | {
      readonly kind: 'ended';
      readonly exit: ProcessExit;
      readonly endCause: ProcessEndCause;
      /** Whether it was started in an earlier life. */
      readonly adopted: boolean;
      readonly atMs: number;
    }
  | { readonly kind: 'never_started' }
  | { readonly kind: 'not_started'; readonly message: string; readonly transient: boolean };

/** How a turn's process is looked after. */
export interface Supervision {
  readonly marker: string;
  readonly timeoutMs: number | null;
  readonly grace: { readonly ms: number; readonly isDone: () => boolean } | null;
  readonly kill: AbortSignal;
  /** Called once the process is known to run, with the promise of its end. */
  readonly onRunning?: (exited: Promise<unknown>) => void;
}

/** Starts a turn's command and waits for its end. */
export async function runTurn(dir: string, command: ProcessCommand, supervision: Supervision): Promise<ProcessEnd> {
  // The wrapper would find that out too, but in the words of a shell.
  if (!existsSync(command.cwd)) return missingFolder(command.cwd);
  const started = await startCommand(dir, command);
  return started.kind === 'started' ? superviseProcess(dir, started.exited, supervision, false) : started;
}

const missingFolder = (cwd: string): ProcessEnd => {
  return { kind: 'not_started', message: `the working directory ${cwd} does not exist`, transient: false };
};

/** Finds a turn that was started in an earlier life and waits for its end. Nothing is ever started twice. */
export async function adoptTurn(dir: string, supervision: Supervision): Promise<ProcessEnd> {
  const found = await findCommand(dir, supervision.marker);
  switch (found.kind) {
    case 'never_started':
      return found;
    case 'alive':
      return superviseProcess(dir, waitForEnd(dir, supervision.marker), supervision, true);
    default:
      supervision.onRunning?.(Promise.resolve());
      return { kind: 'ended', exit: found, endCause: 'itself', adopted: true, atMs: await estimateEndMs(dir) };
  }
}

async function superviseProcess(
  dir: string,
  exited: Promise<ProcessExit>,
  supervision: Supervision,
  adopted: boolean,
): Promise<ProcessEnd> {
  const { stdout, stderr } = turnFiles(dir);
  supervision.onRunning?.(exited);
  const result = await supervise({
    exited,
    // Who has said all may say more, but not by muttering.
    lastOutputMs: () => lastWriteTimeMs(supervision.grace?.isDone() ? [stdout] : [stdout, stderr]),
    timeoutMs: supervision.timeoutMs,
    grace: supervision.grace,
    kill: supervision.kill,
    terminate: () => endTurn(dir, supervision.marker, { graceMs: END_GRACE_MS }),
  });
  return { kind: 'ended', ...result, adopted, atMs: Date.now() };
}

/** When a turn ended that nobody watched: its last trace tells. */
async function estimateEndMs(dir: string): Promise<number> {
  const { started, stdout, stderr } = turnFiles(dir);
  return Math.round(await lastWriteTimeMs([started, stdout, stderr])) || Date.now();
}

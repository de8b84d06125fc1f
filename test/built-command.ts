import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** The built command. */
export const CLI = join(import.meta.dirname, '..', 'dist', 'raymond.js');

/** How a command has ended, and all that it has said. */
export interface EndedCommand {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A built command that was started. */
export interface StartedCommand {
  readonly pid: number;
  readonly ended: Promise<EndedCommand>;
  /** Resolves once it has said this on stderr. */
  said(text: string): Promise<void>;
  /** Kills it without any chance to clean up, if it is still there. */
  kill(): Promise<EndedCommand>;
}

/** Starts the built command with these arguments in a folder; nothing comes from its stdin. */
export function startCommand(
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = process.env,
): StartedCommand {
  return attend(
    spawn(process.execPath, [CLI, ...args], { cwd, env: { ...env, PWD: cwd }, stdio: ['ignore', 'pipe', 'pipe'] }),
  );
}

/** Collects what a process says, until it ends. */
export function attend(child: ChildProcess): StartedCommand {
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (piece) => {
    stdout += piece;
  });
  child.stderr?.on('data', (piece) => {
    stderr += piece;
  });
  const ended = new Promise<EndedCommand>((done) =>
    child.once('close', (code, signal) => done({ code, signal, stdout, stderr })),
  );
  return {
    pid: child.pid ?? 0,
    ended,
    kill() {
      child.kill('SIGKILL');
      return ended;
    },
    async said(text) {
      let hasEnded = false;
      ended.then(() => (hasEnded = true));
      await until(
        () => hasEnded || stderr.includes(text),
        () => `it to say "${text}"; it said: ${stderr}`,
      );
      if (!stderr.includes(text)) throw new Error(`it ended and never said "${text}", but: ${stderr}`);
    },
  };
}

/** Sends a signal to a process, or to a group if its number is negative; it may have ended. */
export function signalProcess(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {}
}

/** Waits until something holds. */
export async function until(holds: () => boolean | Promise<boolean>, what: string | (() => string)): Promise<void> {
  for (const deadline = Date.now() + 60_000; !(await holds()); await delay(10)) {
    if (Date.now() > deadline) throw new Error(`waited in vain for ${typeof what === 'string' ? what : what()}`);
  }
}

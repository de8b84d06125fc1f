import { type ChildProcess, spawn } from 'node:child_process';

/** The output of a program, and how it ended. */
export interface ProgramResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Null if it was killed or could not be started. */
  readonly exitCode: number | null;
  /** True if it was killed because it took too long. */
  readonly timedOut: boolean;
  /** Why it could not be started. */
  readonly spawnError: Error | null;
}

/** How to run a program. */
export interface ProgramOptions {
  readonly cwd?: string;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
  readonly stdin?: string;
  /** Aborted when it is to end early: then it can clean up, and Ctrl-C does nothing to it. */
  readonly signal?: AbortSignal;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_OUTPUT_BYTES = 8 * 1024 * 1024;

/**
 * Runs a program that should answer soon, without a shell. If it takes too long, or the user presses Ctrl-C, it is
 * killed with all that it started. It never throws.
 */
export async function execProgram(
  file: string,
  args: readonly string[],
  { cwd, env, timeoutMs = DEFAULT_TIMEOUT_MS, stdin = '', signal }: ProgramOptions,
): Promise<ProgramResult> {
  let timedOut = false;
  try {
    // In a group of its own, which can be ended as a whole.
    const child = spawn(file, args, { cwd, env, detached: HAS_PROCESS_GROUPS });
    const stopListening =
      signal === undefined ? onSignal(() => killGroup(child)) : onAbort(signal, () => killGroup(child, 'SIGTERM'));
    const timer = setTimeout(() => {
      timedOut = true;
      killGroup(child);
    }, timeoutMs);
    // The program may exit before it reads stdin.
    child.stdin.on('error', () => {});
    child.stdin.end(stdin);
    try {
      const results = [waitForExitCode(child), readText(child.stdout), readText(child.stderr)] as const;
      const [exitCode, stdout, stderr] = await Promise.all(results);
      return { stdout, stderr, exitCode, timedOut, spawnError: null };
    } finally {
      clearTimeout(timer);
      stopListening();
    }
  } catch (error) {
    const spawnError = error instanceof Error ? error : new Error(String(error));
    return { stdout: '', stderr: '', exitCode: null, timedOut, spawnError };
  }
}

/** Null if a signal ended it. */
const waitForExitCode = (child: ChildProcess): Promise<number | null> =>
  new Promise((done, fail) => child.on('close', done).on('error', fail));

/** The beginning of a program's output; the rest is read and dropped, or the program would wait forever. */
async function readText(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    if (size < MAX_OUTPUT_BYTES) chunks.push(chunk);
    size += chunk.length;
  }
  return Buffer.concat(chunks).toString('utf8');
}

const HAS_PROCESS_GROUPS = process.platform !== 'win32';

function killGroup(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    if (HAS_PROCESS_GROUPS && child.pid !== undefined) process.kill(-child.pid, signal);
    else child.kill(signal);
  } catch {}
}

/** Calls back when a signal is aborted, or at once if it is already; returns how to stop listening. */
function onAbort(signal: AbortSignal, handle: () => void): () => void {
  if (signal.aborted) handle();
  signal.addEventListener('abort', handle, { once: true });
  return () => signal.removeEventListener('abort', handle);
}

/** Handles Ctrl-C, which a group of its own does not get. Then the signal is sent again, so that its default action happens. */
function onSignal(handle: () => void): () => void {
  const listeners = (['SIGINT', 'SIGTERM'] as const).map((signal) => {
    const listener = (): void => {
      handle();
      process.off(signal, listener);
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    };
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });
  return () => {
    for (const stop of listeners) stop();
  };
}

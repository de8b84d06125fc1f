import { type ChildProcess, spawn } from 'node:child_process';

/** What a program answered to `--version`, or why it did not. */
export type VersionReply =
  | { readonly kind: 'answered'; readonly text: string }
  | { readonly kind: 'failed'; readonly reason: string };

/** Asks a program for its version. If it takes too long, or the user does not want to wait, all that it started is ended. */
export async function requestVersion(path: string, env: NodeJS.ProcessEnv, timeoutMs: number): Promise<VersionReply> {
  let timedOut = false;
  try {
    // In a group of its own, which can be ended as a whole.
    const child = spawn(path, ['--version'], { env, detached: HAS_PROCESS_GROUPS, stdio: ['ignore', 'pipe', 'pipe'] });
    const stopListening = onSignal(() => killGroup(child));
    const timer = setTimeout(() => {
      timedOut = true;
      killGroup(child);
    }, timeoutMs);
    try {
      const [code, text, stderr] = await Promise.all([
        waitForExitCode(child),
        readText(child.stdout),
        readText(child.stderr),
      ]);
      if (timedOut) return { kind: 'failed', reason: `it did not answer within ${timeoutMs / 1000} s` };
      if (code === 0) return { kind: 'answered', text };
      return { kind: 'failed', reason: firstLine(stderr) || `it ended with ${code ?? 'a signal'}` };
    } finally {
      clearTimeout(timer);
      stopListening();
    }
  } catch (error) {
    return { kind: 'failed', reason: firstLine(error instanceof Error ? error.message : String(error)) };
  }
}

/** How it ended; null if a signal did it. */
const waitForExitCode = (child: ChildProcess): Promise<number | null> =>
  new Promise((done, fail) => child.on('close', done).on('error', fail));

const MAX_REPLY_CHARS = 10_000;

async function readText(stream: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const chunk of stream) text = `${text}${String(chunk)}`.slice(0, MAX_REPLY_CHARS);
  return text;
}

const HAS_PROCESS_GROUPS = process.platform !== 'win32';

function killGroup(child: ChildProcess): void {
  try {
    if (HAS_PROCESS_GROUPS && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {}
}

/** A group of its own does not hear Ctrl-C: it is told by us, and we do what we would have done without listening. */
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

const firstLine = (text: string): string => text.trim().split('\n', 1)[0]?.slice(0, 200) ?? '';

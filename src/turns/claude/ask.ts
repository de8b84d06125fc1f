import { type ChildProcess, spawn } from 'node:child_process';

/** What a program answered to `--version`, or why it did not. */
export type Said =
  | { readonly kind: 'answered'; readonly text: string }
  | { readonly kind: 'failed'; readonly why: string };

/** Asks a program for its version. If it takes too long, or the user does not want to wait, all that it started is ended. */
export async function ask(path: string, env: NodeJS.ProcessEnv, patienceMs: number): Promise<Said> {
  let late = false;
  try {
    // In a group of its own, which can be ended as a whole.
    const child = spawn(path, ['--version'], { env, detached: HAS_GROUPS, stdio: ['ignore', 'pipe', 'pipe'] });
    const stopListening = onSignal(() => endGroup(child));
    const timer = setTimeout(() => {
      late = true;
      endGroup(child);
    }, patienceMs);
    try {
      const [code, text, complaint] = await Promise.all([codeOf(child), textOf(child.stdout), textOf(child.stderr)]);
      if (late) return { kind: 'failed', why: `it did not answer within ${patienceMs / 1000} s` };
      if (code === 0) return { kind: 'answered', text };
      return { kind: 'failed', why: firstLine(complaint) || `it ended with ${code ?? 'a signal'}` };
    } finally {
      clearTimeout(timer);
      stopListening();
    }
  } catch (error) {
    return { kind: 'failed', why: firstLine(error instanceof Error ? error.message : String(error)) };
  }
}

/** How it ended; null if a signal did it. */
const codeOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((done, fail) => child.on('close', done).on('error', fail));

const MOST_SAID = 10_000;

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const chunk of stream) text = `${text}${String(chunk)}`.slice(0, MOST_SAID);
  return text;
}

const HAS_GROUPS = process.platform !== 'win32';

function endGroup(child: ChildProcess): void {
  try {
    if (HAS_GROUPS && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {}
}

/** A group of its own does not hear Ctrl-C: it is told by us, and we do what we would have done without listening. */
function onSignal(act: () => void): () => void {
  const listeners = (['SIGINT', 'SIGTERM'] as const).map((signal) => {
    const hear = (): void => {
      act();
      process.off(signal, hear);
      if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
    };
    process.on(signal, hear);
    return () => process.off(signal, hear);
  });
  return () => {
    for (const stop of listeners) stop();
  };
}

const firstLine = (text: string): string => text.trim().split('\n', 1)[0]?.slice(0, 200) ?? '';

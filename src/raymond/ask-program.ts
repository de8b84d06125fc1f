import { execFile } from 'node:child_process';

/** What a program said, and how it ended. */
export interface Said {
  readonly stdout: string;
  readonly stderr: string;
  /** Null if it was killed, because it took too long, or could not be started. */
  readonly code: number | null;
  /** Why it could not be started, such as ENOENT. */
  readonly failure: string | null;
}

export interface Question {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
  readonly stdin?: string;
}

const TIMEOUT_MS = 10_000;
const MOST_OUTPUT = 8 * 1024 * 1024;

/** Asks a program something, without a shell and not for long. It never throws. */
export function askProgram(file: string, args: readonly string[], question: Question): Promise<Said> {
  const { cwd, env, timeoutMs = TIMEOUT_MS, stdin = '' } = question;
  return new Promise((done) => {
    const options = { cwd, env, timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: MOST_OUTPUT } as const;
    const child = execFile(file, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
      done({ stdout, stderr, code, failure: typeof error?.code === 'string' ? error.code : null });
    });
    // It may leave without having read anything.
    child.stdin?.on('error', () => {});
    child.stdin?.end(stdin);
  });
}

/** The first line of a text, not too long. */
export const firstLine = (text: string): string => text.trim().split('\n', 1)[0]?.slice(0, 200) ?? '';

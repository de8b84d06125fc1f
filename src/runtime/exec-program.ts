import { execFile } from 'node:child_process';

/** What a program said, and how it ended. */
export interface ProgramResult {
  readonly stdout: string;
  readonly stderr: string;
  /** Null if it was killed, because it took too long, or could not be started. */
  readonly exitCode: number | null;
  /** Why it could not be started, such as ENOENT. */
  readonly spawnError: string | null;
}

export interface ProgramOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
  readonly stdin?: string;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_OUTPUT_BYTES = 8 * 1024 * 1024;

/** Asks a program something, without a shell and not for long. It never throws. */
export function execProgram(file: string, args: readonly string[], options: ProgramOptions): Promise<ProgramResult> {
  const { cwd, env, timeoutMs = DEFAULT_TIMEOUT_MS, stdin = '' } = options;
  return new Promise((resolve) => {
    const execOptions = { cwd, env, timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: MAX_OUTPUT_BYTES } as const;
    const child = execFile(file, args, execOptions, (error, stdout, stderr) => {
      const exitCode = error === null ? 0 : typeof error.code === 'number' ? error.code : null;
      resolve({ stdout, stderr, exitCode, spawnError: typeof error?.code === 'string' ? error.code : null });
    });
    // It may leave without having read anything.
    child.stdin?.on('error', () => {});
    child.stdin?.end(stdin);
  });
}

/** The first line of a text, not too long. */
export const firstLine = (text: string): string => text.trim().split('\n', 1)[0]?.slice(0, 200) ?? '';

/** The exit codes of the command; docs/exit-codes.md explains them. */
export const EXIT = {
  completed: 0,
  failed: 1,
  waiting: 2,
  paused: 3,
  limit: 4,
  usage: 64,
  invalid: 65,
  bug: 70,
  interrupted: 130,
} as const;

/** Something the user can put right: a sentence that says what is wrong, a hint that says what to do. */
export class RaymondError extends Error {
  readonly exitCode: number;
  readonly hint: string | undefined;

  constructor(message: string, options: { exitCode: number; hint?: string; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = 'RaymondError';
    this.exitCode = options.exitCode;
    this.hint = options.hint;
  }
}

/** The system's name for an error, such as ENOENT; empty if it has none. */
export function errorCodeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** The message of anything that was thrown. */
export const errorMessageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

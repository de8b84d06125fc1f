/** The environment variable that every process of a turn inherits, whatever session or group it moves to. */
export const MARKER_VARIABLE = 'RAYMOND_TURN';

/** The environment variable that only wrappers carry: a wrapper is killed last, so that it can record an exit. */
export const WRAPPER_VARIABLE = 'RAYMOND_WRAPPER';

/** What to run: arguments and values may hold any character but NUL. */
export interface ProcessCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** `none` if there is nothing to read; else it reads the folder's `stdin`. */
  readonly input?: 'none';
  /** The whole environment; the turn's `RAYMOND_TURN` is in it when the command starts. */
  readonly env: Readonly<Record<string, string>>;
}

/** How a command ended; `died` means that nobody was left to record it. */
export type ProcessExit = { readonly kind: 'exited'; readonly code: number } | { readonly kind: 'died' };

/** A command that runs now, or has run. */
export interface StartedCommand {
  readonly kind: 'started';
  /** The wrapper's, which is also the number of its group and session. */
  readonly pid: number;
  /** Does not keep our process alive by itself; following the output does. */
  readonly exited: Promise<ProcessExit>;
}

/** Nothing has run, and the folder can be used again. */
export interface NotStarted {
  readonly kind: 'not_started';
  readonly message: string;
  /** Whether the machine was only short of something, so that it may work later. */
  readonly transient: boolean;
}

/** How the ending of processes went. */
export interface EndResult {
  /** How many had to be killed. */
  readonly killed: number;
  /** How many would not go even so: another user's, or stuck in the kernel. */
  readonly left: number;
}

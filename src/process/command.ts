import type { Writable } from 'node:stream';
import type { SandboxRequest } from './sandbox.ts';

/** The environment variable that every process of a turn inherits, whatever session or group it moves to. */
export const MARKER_VARIABLE = 'RAYMOND_TURN';

/** The environment variable that only wrappers carry: a wrapper is killed last, so that it can record an exit. */
export const WRAPPER_VARIABLE = 'RAYMOND_WRAPPER';

/** A command to run. Arguments and values may hold any character but NUL. */
export interface ProcessCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /**
   * `none` for an empty stdin, `pipe` for one that this process writes to and that ends with it; else the command reads the
   * file `stdin` of the turn's folder.
   */
  readonly input?: 'none' | 'pipe';
  /** Set if it runs in a sandbox. */
  readonly sandbox?: SandboxRequest;
  /** An open file that the wrapper and the command inherit. */
  readonly inherited?: number | undefined;
  /** The whole environment; the turn's `RAYMOND_TURN` is in it when the command starts. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * How a command ended: `died` if its wrapper was killed before it could record that, `never_ran` if the wrapper could
 * not run it because the machine was short of processes or disk space.
 */
export type ProcessExit =
  | { readonly kind: 'exited'; readonly code: number; readonly diskWasFull?: true }
  | { readonly kind: 'died' }
  | { readonly kind: 'never_ran' };

/** The folder of a process's files, and the marker that it and all its children carry. */
export interface ProcessRef {
  readonly dir: string;
  readonly marker: string;
}

/** A command that was started. */
export interface StartedCommand {
  readonly kind: 'started';
  /** The pid of the wrapper, which is also the id of its group and session. */
  readonly pid: number;
  /** The write end of its stdin, if that is a pipe. Nobody else holds it. */
  readonly stdin: Writable | null;
  /** Does not keep our process alive by itself. */
  readonly exited: Promise<ProcessExit>;
}

/**
 * Reasons why a command did not start: the machine was short of something, such as memory, and it may work later; the
 * disk was full; or something that does not pass by itself.
 */
export type Obstacle = 'shortage' | 'full_disk' | 'lasting';

/** A command that could not be started. Nothing has run, and the folder can be used again. */
export interface NotStarted {
  readonly kind: 'not_started';
  readonly message: string;
  readonly obstacle: Obstacle;
}

/** How many processes had to be killed, and how many are left. */
export interface EndResult {
  /** Processes that did not end on SIGTERM. */
  readonly killed: number;
  /** Processes that did not even end on SIGKILL: another user's, or stuck in the kernel. */
  readonly left: number;
}

/** An environment to be handed on. */
export type Environment = Readonly<Record<string, string | undefined>>;

const CLAUDE_CODE_VARIABLES = ['CLAUDECODE', 'CLAUDE_CODE_ENTRYPOINT'];

/** The part of our environment that a turn, or git, inherits: all but our own variables and those of a Claude Code around us. */
export function inheritEnvironment(env: Environment): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !entry[0].startsWith('RAYMOND_') && !CLAUDE_CODE_VARIABLES.includes(entry[0]),
  );
  return Object.fromEntries(kept);
}

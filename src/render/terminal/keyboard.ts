import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { emitKeypressEvents, type Key } from 'node:readline';
import type { ReadStream } from 'node:tty';
import type { KeyListener } from './terminal.ts';

/** The keys that the terminal itself turns into signals, unless it hands over every key as it is. */
const SIGNAL_KEYS: Readonly<Record<string, NodeJS.Signals>> = {
  'ctrl-c': 'SIGINT',
  'ctrl-z': 'SIGTSTP',
  'ctrl-\\': 'SIGQUIT',
};

const FOREGROUND_POLL_MS = 2_000;

/**
 * Reads single keys from a terminal. It changes the mode of the terminal, which must never stay changed: a caller that
 * listens releases it before the process ends or is suspended. A process in the background must not touch the terminal,
 * or the system would suspend it: then keys are not read until it is in the foreground.
 */
export class Keyboard {
  private readonly input: ReadStream;
  private action: KeyListener | null = null;
  private isGrabbed = false;
  /** True if another program reads the keys. */
  private isLent = false;
  private poll: NodeJS.Timeout | undefined;

  constructor(input: ReadStream) {
    this.input = input;
  }

  /** Calls back at each key; returns a function that stops listening. */
  readonly listen = (action: KeyListener): (() => void) => {
    this.action = action;
    process.on('SIGCONT', this.regrab);
    this.grab();
    return () => {
      this.action = null;
      process.off('SIGCONT', this.regrab);
      this.release();
    };
  };

  /** Lets the terminal hand over single keys, if somebody listens. */
  grab(): void {
    if (this.action === null || this.isGrabbed || this.isLent) return;
    clearTimeout(this.poll);
    if (!isForeground()) {
      this.poll = setTimeout(() => this.grab(), FOREGROUND_POLL_MS).unref();
      return;
    }
    this.isGrabbed = true;
    emitKeypressEvents(this.input);
    this.input.on('keypress', this.handleKey);
    this.input.on('error', this.handleError);
    try {
      this.input.setRawMode(true);
      this.input.resume();
      // Waiting for a key keeps no process alive.
      this.input.unref();
    } catch {
      this.release();
    }
  }

  /** Gives the terminal its mode back. */
  release(): void {
    clearTimeout(this.poll);
    if (!this.isGrabbed) return;
    this.isGrabbed = false;
    this.input.off('keypress', this.handleKey);
    this.input.off('error', this.handleError);
    try {
      this.input.setRawMode(false);
      this.input.pause();
    } catch {
      // The terminal is gone.
    }
  }

  /** Leaves the keys to another program until the returned function is called. */
  lend(): () => void {
    this.isLent = true;
    this.release();
    return () => {
      this.isLent = false;
      this.grab();
    };
  }

  /** A shell sets its own mode while a process is stopped. */
  private readonly regrab = (): void => {
    this.release();
    this.grab();
  };

  private readonly handleError = (): void => {
    this.action = null;
    this.release();
  };

  private readonly handleKey = (text: string | undefined, { name, ctrl, meta, sequence }: Key): void => {
    const key = ctrl === true ? `ctrl-${name ?? sequence ?? ''}` : nameKey(text, name);
    const signal = SIGNAL_KEYS[sequence === '\u001c' ? 'ctrl-\\' : key];
    const typed = ctrl === true || meta === true || text === undefined || /\p{Cc}/u.test(text) ? '' : text;
    const isTaken = this.action?.(key, typed) ?? false;
    // As the terminal would: to every process of the foreground.
    if (signal !== undefined && !isTaken) process.kill(0, signal);
  };
}

/** Letters and signs as they are typed; names for the others, such as `up` and `space`. */
const nameKey = (text: string | undefined, name: string | undefined): string =>
  text !== undefined && /^[!-~]$/.test(text) ? text : (name ?? '');

/** True if this process is in the foreground of its terminal. */
function isForeground(): boolean {
  try {
    if (process.platform !== 'linux')
      return execFileSync('ps', ['-o', 'stat=', '-p', String(process.pid)], { encoding: 'utf8' }).includes('+');
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // After the name, which may contain anything: state, parent, group, session, terminal, group in the foreground.
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return group === foreground;
  } catch {
    return false;
  }
}

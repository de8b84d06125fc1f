import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { errorCodeOf } from '../../errors.ts';
import { editText } from './editor.ts';
import { Keyboard } from './keyboard.ts';
import { startPager } from './pager.ts';
import { saveMemory } from './save-memory.ts';
import type { Screen, Terminal } from './terminal.ts';

/** Opens the terminal of this process; `cwd` is the folder that commands work in. */
export function openProcessTerminal(cwd: string): Terminal {
  const { stdin, stdout, stderr, env, platform } = process;
  const [out, err] = [createOutputWriter(stdout), createOutputWriter(stderr)];
  const isAsciiOnly = stderr.isTTY && !supportsUnicode(env, platform);
  /** Ctrl-C is for the editor while one is open, which shares the terminal. */
  const editing = { isOpen: false };
  const writeErr = (text: string): void => err.write(isAsciiOnly ? replaceSymbolsWithAscii(text) : text);
  return {
    out: (text) => out.write(text),
    outIsScreen: stdout.isTTY,
    takeWriteError: out.takeWriteError,
    ...(stdout.isTTY && env.TERM !== 'dumb' && { startPager: () => startPager(env) }),
    err: writeErr,
    cwd,
    changeFolder: process.chdir,
    saveMemory,
    readStdin: () => buffer(stdin),
    env,
    screen: detectScreen(writeErr, editing),
    ...(stdin.isTTY && stderr.isTTY && { ask: (question) => askYesOrNo(question, stdin, stderr) }),
    onInterrupt: (action) =>
      onSignals(['SIGINT', 'SIGTERM'], (signal) => (signal === 'SIGINT' && editing.isOpen) || action()),
  };
}

/** Asks on the terminal. Anything but a yes is a no, also Ctrl-C and Ctrl-D. */
export function askYesOrNo(question: string, input: Readable, output: Writable): Promise<boolean> {
  const lines = createInterface({ input, output });
  return new Promise((resolve) => {
    const endLine = (): void => {
      output.write('\n');
      resolve(false);
    };
    lines.once('close', endLine);
    lines.question(`${question} [y/N] `, (reply) => {
      lines.off('close', endLine);
      lines.close();
      resolve(/^y(es)?$/i.test(reply.trim()));
    });
  });
}

/** The screen behind stderr; null if there is none, or if TERM says that it cannot move the cursor. */
function detectScreen(write: Screen['write'], editing: { isOpen: boolean }): Screen | null {
  const { stdin, stderr, env, platform } = process;
  const isDumb = env.TERM === 'dumb' || (!env.TERM && platform !== 'win32');
  if (!stderr.isTTY || isDumb) return null;
  const keyboard = stdin.isTTY && platform !== 'win32' ? new Keyboard(stdin) : null;
  return {
    write,
    size: () => ({ columns: stderr.columns || 80, rows: stderr.rows || 24 }),
    color: !env.NO_COLOR && stderr.hasColors(),
    onResize: (action) => {
      stderr.on('resize', action);
      return () => stderr.off('resize', action);
    },
    ...(keyboard !== null && {
      onKey: keyboard.listen,
      async edit(text, below) {
        const takeBack = keyboard.lend();
        editing.isOpen = true;
        try {
          return await editText(text, below, env);
        } finally {
          editing.isOpen = false;
          takeBack();
        }
      },
    }),
    onLeave: (leave, back) =>
      onLeave(
        () => {
          keyboard?.release();
          leave();
        },
        () => {
          keyboard?.grab();
          back();
        },
      ),
  };
}

const RESUME_DELAY_MS = 100;
/** The signals that end this process at once; the run can be taken up again. */
const QUIT_SIGNALS = ['SIGQUIT', 'SIGHUP'] as const;

/** Calls `leave` before the process exits, quits (Ctrl-\), loses its terminal or is suspended (Ctrl-Z), and `back` when it is resumed. */
function onLeave(leave: () => void, back: () => void): () => void {
  const handleQuit = (signal: NodeJS.Signals): void => performDefault(signal, handleQuit);
  const handleSuspend = (): void => {
    performDefault('SIGTSTP', handleSuspend);
    // Timers stand still while we are suspended. Where no shell could resume us, the system does not suspend us at all.
    setTimeout(() => {
      if (isStopped) return;
      process.on('SIGTSTP', handleSuspend);
      back();
    }, RESUME_DELAY_MS);
  };
  /** Does what the signal would have done without our listener. */
  const performDefault = (signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): void => {
    leave();
    process.off(signal, listener);
    process.kill(process.pid, signal);
  };
  let isStopped = false;
  process.on('exit', leave);
  for (const signal of QUIT_SIGNALS) process.on(signal, handleQuit);
  process.on('SIGTSTP', handleSuspend);
  return () => {
    isStopped = true;
    process.off('exit', leave);
    for (const signal of QUIT_SIGNALS) process.off(signal, handleQuit);
    process.off('SIGTSTP', handleSuspend);
  };
}

function onSignals(signals: readonly NodeJS.Signals[], action: (signal: NodeJS.Signals) => void): () => void {
  for (const signal of signals) process.on(signal, action);
  return () => {
    for (const signal of signals) process.off(signal, action);
  };
}

/** True if the terminal shows UTF-8, judged by the locale; always on Windows, which has no locale in its environment. */
export function supportsUnicode(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  return platform === 'win32' || /utf-?8/i.test(locale);
}

/** Each replacement is as wide as its symbol, so that no column moves. */
const ASCII_REPLACEMENTS: Readonly<Record<string, string>> = {
  '─': '-',
  '—': '-',
  '→': '>',
  '·': '.',
  '…': '~',
  '↑': '^',
  '↓': 'v',
  ...Object.fromEntries([...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'].map((symbol, at) => [symbol, '|/-\\'[at % 4] ?? '|'])),
};

const REPLACEABLE_SYMBOLS = new RegExp(`[${Object.keys(ASCII_REPLACEMENTS).join('')}]`, 'g');

/** Replaces the symbols that Raymond itself prints; other text stays as it is. */
export const replaceSymbolsWithAscii = (text: string): string =>
  text.replace(REPLACEABLE_SYMBOLS, (symbol) => ASCII_REPLACEMENTS[symbol] ?? symbol);

/** Writes text without waiting for it and without ever throwing. */
export interface OutputWriter {
  readonly write: (text: string) => void;
  /** The code of the first write error, returned once; null if there was none, or if only the reader is gone. */
  readonly takeWriteError: () => string | null;
}

/** The errors of a pipe or a terminal that was closed by its reader. */
const READER_GONE_CODES: ReadonlySet<string> = new Set(['EPIPE', 'EIO']);

/** Creates a writer for a stream. Versions of Node differ in which errors are thrown and which are emitted later. */
export function createOutputWriter(stream: Writable): OutputWriter {
  let firstError: string | null = null;
  const rememberError = (error: unknown): void => {
    const code = errorCodeOf(error) || 'an unknown error';
    if (!READER_GONE_CODES.has(code)) firstError ??= code;
  };
  stream.on('error', rememberError);
  return {
    write(text) {
      try {
        stream.write(text);
      } catch (error) {
        rememberError(error);
      }
    },
    takeWriteError() {
      const taken = firstError;
      firstError = null;
      return taken;
    },
  };
}

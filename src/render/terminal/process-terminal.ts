import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import { errorCodeOf } from '../../errors.ts';
import { Keyboard } from './keyboard.ts';
import { startPager } from './pager.ts';
import type { Screen, Terminal } from './terminal.ts';

/** Opens the terminal of this process; `cwd` is the folder that commands work in. */
export function openProcessTerminal(cwd: string): Terminal {
  const { stdout, stderr, env, platform } = process;
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
    readStdin: () => buffer(process.stdin),
    env,
    screen: detectScreen(writeErr, editing),
    ...(stderr.isTTY && process.stdin.isTTY && { ask: (question) => askYesOrNo(question, process.stdin, stderr) }),
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
  const { stderr, env, platform } = process;
  const isDumb = env.TERM === 'dumb' || (!env.TERM && platform !== 'win32');
  if (!stderr.isTTY || isDumb) return null;
  const { stdin } = process;
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
/** The signals that end this process at once; the run can be resumed. */
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
interface OutputWriter {
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

/** Everything below this line belongs to the question. */
const SCISSORS = '------------------------ >8 ------------------------';

/**
 * Lets the user edit a text in the editor that the environment names, with something to read below it. Throws if that
 * fails; the text is then as it was.
 */
async function editText(text: string, below: string, env: NodeJS.ProcessEnv): Promise<string> {
  const editor = env.VISUAL?.trim() || env.EDITOR?.trim() || 'vi';
  const folder = await mkdtemp(join(tmpdir(), 'raymond-answer-'));
  try {
    const file = join(folder, 'answer.md');
    await writeFile(
      file,
      `${text}\n\n${SCISSORS}\nNothing from the line above on is sent. The question is:\n\n${below}\n`,
    );
    const status = await runEditor(editor, file, env);
    if (status !== 0) throw new Error(`the editor \`${editor}\` failed (${status}); EDITOR can name another`);
    const edited = await readFile(file, 'utf8');
    const [answer = ''] = edited.replace(/\r\n?/g, '\n').split(SCISSORS, 1);
    return answer.trim();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs an editor on the terminal, as git does: its command may have arguments. stdout may be a file, stderr is the screen. */
const runEditor = (editor: string, file: string, env: NodeJS.ProcessEnv): Promise<number | string> =>
  new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', `${editor} "$@"`, editor, file], { stdio: ['inherit', 2, 2], env });
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });

/** The last version of Node.js for which this was measured: V8 complains about flags that it does not know. */
const LAST_KNOWN_NODE = 24;

/**
 * Makes the garbage collector prefer memory to time from now on: new objects get no more room than they have, and old ones
 * are looked through when they have grown by a third instead of by several times. A run waits most of the time.
 */
function saveMemory(): void {
  if (Number.parseInt(process.versions.node, 10) > LAST_KNOWN_NODE) return;
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=30');
  // V8 uses code that was kept only with the flags with which it was made (`cli/compile-cache.ts`).
  process.prependOnceListener('exit', () => {
    setFlagsFromString('--semi-space-growth-factor=2');
    setFlagsFromString('--heap-growing-percent=0');
  });
}

import { createOutputWriter } from './output-writer.ts';
import type { Screen, Terminal } from './terminal.ts';

/** The terminal this process was started in, at work in this folder. */
export function openProcessTerminal(cwd: string): Terminal {
  const { stdout, stderr, env, platform } = process;
  const [out, err] = [createOutputWriter(stdout), createOutputWriter(stderr)];
  const isAsciiOnly = stderr.isTTY && !supportsUnicode(env, platform);
  const writeErr = (text: string): void => err.write(isAsciiOnly ? replaceSymbolsWithAscii(text) : text);
  return {
    out: out.write,
    outIsScreen: stdout.isTTY,
    takeWriteError: out.takeWriteError,
    err: writeErr,
    cwd,
    env,
    screen: detectScreen(writeErr),
    onInterrupt: (action) => onSignals(['SIGINT', 'SIGTERM'], action),
  };
}

/** Who does not say what terminal it is, or calls it dumb, cannot move a cursor. Whoever sets NO_COLOR, to whatever, wants none. */
function detectScreen(write: Screen['write']): Screen | null {
  const { stderr, env, platform } = process;
  const isDumb = env.TERM === 'dumb' || (!env.TERM && platform !== 'win32');
  if (!stderr.isTTY || isDumb) return null;
  return {
    write,
    size: () => ({ columns: stderr.columns || 80, rows: stderr.rows || 24 }),
    colour: !env.NO_COLOR && stderr.hasColors(),
    onResize: (action) => {
      stderr.on('resize', action);
      return () => stderr.off('resize', action);
    },
    onLeave,
  };
}

const RESUME_DELAY_MS = 100;

/** Before the process ends, by itself or by Ctrl-\, and around the sleep that Ctrl-Z sends it to. */
function onLeave(leave: () => void, back: () => void): () => void {
  const handleQuit = (): void => performDefault('SIGQUIT', handleQuit);
  const handleSuspend = (): void => {
    performDefault('SIGTSTP', handleSuspend);
    // The clock stands still while we sleep. Where nobody could wake us, the system does not let us sleep at all.
    setTimeout(() => {
      if (isStopped) return;
      process.on('SIGTSTP', handleSuspend);
      back();
    }, RESUME_DELAY_MS);
  };
  /** Does what the signal would have done without us. */
  const performDefault = (signal: NodeJS.Signals, listener: () => void): void => {
    leave();
    process.off(signal, listener);
    process.kill(process.pid, signal);
  };
  let isStopped = false;
  process.on('exit', leave);
  process.on('SIGQUIT', handleQuit);
  process.on('SIGTSTP', handleSuspend);
  return () => {
    isStopped = true;
    process.off('exit', leave);
    process.off('SIGQUIT', handleQuit);
    process.off('SIGTSTP', handleSuspend);
  };
}

function onSignals(signals: readonly NodeJS.Signals[], action: () => void): () => void {
  for (const signal of signals) process.on(signal, action);
  return () => {
    for (const signal of signals) process.off(signal, action);
  };
}

/** Whether the locale has more than ASCII in the one encoding that we write; Windows has no locale in its environment. */
export function supportsUnicode(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  return platform === 'win32' || /utf-?8/i.test(locale);
}

/** Each as wide as what it stands for, so that no column moves. */
const ASCII_REPLACEMENTS: Readonly<Record<string, string>> = {
  '─': '-',
  '—': '-',
  '→': '>',
  '·': '.',
  '…': '~',
  ...Object.fromEntries([...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'].map((symbol, at) => [symbol, '|/-\\'[at % 4] ?? '|'])),
};

const REPLACEABLE_SYMBOLS = new RegExp(`[${Object.keys(ASCII_REPLACEMENTS).join('')}]`, 'g');

/** Our own signs in ASCII; what others wrote stays as it is. */
export const replaceSymbolsWithAscii = (text: string): string =>
  text.replace(REPLACEABLE_SYMBOLS, (symbol) => ASCII_REPLACEMENTS[symbol] ?? symbol);

import { knowsUnicode, plainSigns } from './charset.ts';
import { outletInto } from './outlet.ts';
import type { Screen, Terminal } from './terminal.ts';

/** The terminal this process was started in, at work in this folder. */
export function thisTerminal(cwd: string): Terminal {
  const { stdout, stderr, env, platform } = process;
  const [out, err] = [outletInto(stdout), outletInto(stderr)];
  const isPlain = stderr.isTTY && !knowsUnicode(env, platform);
  const say = (text: string): void => err.write(isPlain ? plainSigns(text) : text);
  return {
    out: out.write,
    outIsScreen: stdout.isTTY,
    takeFault: out.takeFault,
    err: say,
    cwd,
    env,
    screen: screen(say),
    onInterrupt: (act) => listen(['SIGINT', 'SIGTERM'], act),
  };
}

/** Who does not say what terminal it is, or calls it dumb, cannot move a cursor. Whoever sets NO_COLOR, to whatever, wants none. */
function screen(write: Screen['write']): Screen | null {
  const { stderr, env, platform } = process;
  const isDumb = env.TERM === 'dumb' || (!env.TERM && platform !== 'win32');
  if (!stderr.isTTY || isDumb) return null;
  return {
    write,
    size: () => ({ columns: stderr.columns || 80, rows: stderr.rows || 24 }),
    colour: !env.NO_COLOR && stderr.hasColors(),
    onResize: (act) => {
      stderr.on('resize', act);
      return () => stderr.off('resize', act);
    },
    onLeave,
  };
}

const WAKING_MS = 100;

/** Before the process ends, by itself or by Ctrl-\, and around the sleep that Ctrl-Z sends it to. */
function onLeave(leave: () => void, back: () => void): () => void {
  const quit = (): void => obey('SIGQUIT', quit);
  const sleep = (): void => {
    obey('SIGTSTP', sleep);
    // The clock stands still while we sleep. Where nobody could wake us, the system does not let us sleep at all.
    setTimeout(() => {
      if (over) return;
      process.on('SIGTSTP', sleep);
      back();
    }, WAKING_MS);
  };
  /** Does what the signal would have done without us. */
  const obey = (signal: NodeJS.Signals, listener: () => void): void => {
    leave();
    process.off(signal, listener);
    process.kill(process.pid, signal);
  };
  let over = false;
  process.on('exit', leave);
  process.on('SIGQUIT', quit);
  process.on('SIGTSTP', sleep);
  return () => {
    over = true;
    process.off('exit', leave);
    process.off('SIGQUIT', quit);
    process.off('SIGTSTP', sleep);
  };
}

function listen(signals: readonly NodeJS.Signals[], act: () => void): () => void {
  for (const signal of signals) process.on(signal, act);
  return () => {
    for (const signal of signals) process.off(signal, act);
  };
}

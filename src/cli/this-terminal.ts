import type { Screen, Terminal } from './terminal.ts';

/** The terminal this process was started in. */
export const thisTerminal = (): Terminal => ({
  out: (text) => process.stdout.write(text),
  outIsScreen: process.stdout.isTTY,
  err: (text) => process.stderr.write(text),
  cwd: process.cwd(),
  env: process.env,
  screen: screen(),
  onInterrupt: (act) => listen(['SIGINT', 'SIGTERM'], act),
});

/** `TERM=dumb` cannot move its cursor. Whoever sets NO_COLOR, to whatever, wants none. */
function screen(): Screen | null {
  const { stderr, env } = process;
  if (!stderr.isTTY || env.TERM === 'dumb') return null;
  return {
    write: (text) => stderr.write(text),
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

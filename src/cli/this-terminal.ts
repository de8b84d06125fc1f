import type { Screen, Terminal } from './terminal.ts';

/** The terminal this process was started in. */
export const thisTerminal = (): Terminal => ({
  out: (text) => process.stdout.write(text),
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
  };
}

function listen(signals: readonly NodeJS.Signals[], act: () => void): () => void {
  for (const signal of signals) process.on(signal, act);
  return () => {
    for (const signal of signals) process.off(signal, act);
  };
}

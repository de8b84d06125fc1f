import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A program that shows a long text page by page. */
export interface Pager {
  readonly write: (text: string) => void;
  /** Resolves when it can take more. */
  readonly drain: () => Promise<void>;
  /** Aborted when its user has left it. */
  readonly left: AbortSignal;
  /** Ends the text, and resolves when its user has left. */
  readonly close: () => Promise<void>;
}

/** Less, where it is installed. */
const DEFAULT_PAGER = 'if command -v less >/dev/null; then exec less; else exec cat; fi';

/** Starts the pager that the environment names, else `less`; null if there shall be none. */
export function startPager(env: NodeJS.ProcessEnv): Pager | null {
  const command = env.PAGER ?? DEFAULT_PAGER;
  if (command.trim() === '' || command.trim() === 'cat' || process.platform === 'win32') return null;
  // As git does: quit if it fits on one page, show colors, leave the text on the screen.
  const child = spawn('/bin/sh', ['-c', command], {
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { LESS: 'FRX', ...env },
  });
  const left = new AbortController();
  const ended = new Promise<void>((resolve) => {
    child.once('close', resolve);
    child.once('error', () => resolve());
  });
  ended.then(() => left.abort());
  // It may be left before it has read everything.
  child.stdin.on('error', () => left.abort());
  // Ctrl-C is for the pager, which shares the terminal.
  const ignore = (): void => {};
  process.on('SIGINT', ignore);
  return {
    write: (text) => void (left.signal.aborted || child.stdin.write(text)),
    async drain() {
      if (!left.signal.aborted && child.stdin.writableNeedDrain)
        await Promise.race([once(child.stdin, 'drain').catch(ignore), ended]);
    },
    left: left.signal,
    async close() {
      child.stdin.end();
      await ended;
      process.off('SIGINT', ignore);
    },
  };
}

import { shorten } from '../observers/fit.ts';
import { oneLine } from '../observers/harmless.ts';
import { dyeFor } from '../observers/ink.ts';
import type { Clock, Screen } from '../observers/live/screen.ts';
import type { Piece } from '../rehearsal/repertoire.ts';

/** A line at the bottom of the screen that says which scenario is awaited. */
export interface AwaitedLine {
  begins(piece: Piece): void;
  ends(piece: Piece): void;
  /** Makes room for a line that stays. */
  clear(): void;
  close(): void;
}

const TICK_MS = 1000;
const CLEAR = '\r\u001b[K';

/** Scenarios are told of in their order, and most take no time: only who waits for a second sees this. */
export function newAwaitedLine(
  screen: Screen,
  pieces: readonly Piece[],
  clock: Pick<Clock, 'now' | 'every'> = CLOCK,
): AwaitedLine {
  const since = new Map<Piece, number>();
  let ended = 0;
  let isShown = false;
  const clear = (): void => {
    if (isShown) screen.write(CLEAR);
    isShown = false;
  };
  const stop = clock.every(TICK_MS, () => {
    const [first, ...others] = pieces.filter((piece) => since.has(piece));
    if (first === undefined) return clear();
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    const seconds = Math.round((clock.now() - (since.get(first) ?? 0)) / 1000);
    const line = `${seconds} s: waiting for ${oneLine(first.rehearsal.name)}${more} (${ended} of ${pieces.length} done)`;
    screen.write(CLEAR + dyeFor(screen.colour)('dim', shorten(line, screen.size().columns - 1)));
    isShown = true;
  });
  return {
    begins: (piece) => void since.set(piece, clock.now()),
    ends(piece) {
      since.delete(piece);
      ended += 1;
    },
    clear,
    close() {
      stop();
      clear();
    },
  };
}

const CLOCK: Pick<Clock, 'now' | 'every'> = {
  now: Date.now,
  every(ms, act) {
    const timer = setInterval(act, ms).unref();
    return () => clearInterval(timer);
  },
};

import { EXIT } from '../../errors.ts';
import { harmless } from '../../observers/harmless.ts';
import { tellLogs } from '../../raymond/logs.ts';
import type { Carry } from '../entry.ts';
import { textOf } from '../words.ts';

/** `raymond logs [RUN]`: the readable story of a run. */
export const logs: Carry = async ([wanted = 'last'], words, { out, err, cwd, screen }) => {
  const { stdout } = process;
  const enough = new AbortController();
  // Whoever reads may leave: the rest of a long story would be told to nobody.
  const leave = (): void => enough.abort();
  stdout.once('error', leave);
  const pages = pagesTo(out);
  const agent = textOf(words, 'agent');
  const raw = words.raw === true;
  try {
    await tellLogs(wanted, {
      ...{ cwd, raw, follow: words.follow === true, enough: enough.signal },
      ...(agent !== undefined && { agent }),
      colour: screen?.colour === true && stdout.isTTY === true,
      // Only a terminal can be driven: a file or a program gets the lines as they are.
      write: (line) => pages.write(`${raw && stdout.isTTY ? harmless(line) : line}\n`),
      aside: (text) => err(`${text}\n`),
    });
  } finally {
    pages.flush();
    stdout.off('error', leave);
  }
  return EXIT.completed;
};

const MOST_HELD = 1 << 16;

/** Writes much at a time, for each call costs, but lets nothing wait. */
function pagesTo(out: (text: string) => void): { write: (text: string) => void; flush: () => void } {
  let held = '';
  const flush = (): void => {
    if (held !== '') out(held);
    held = '';
  };
  return {
    write(text) {
      if (held === '') setImmediate(flush);
      held += text;
      if (held.length > MOST_HELD) flush();
    },
    flush,
  };
}

import type { Words } from './entry.ts';
import { liveShow } from './live-show.ts';
import { plainShow, quietShow, type Show } from './show.ts';
import type { Terminal } from './terminal.ts';

/** The show that suits the terminal and the words: a live view for people, plain lines for all else. */
export function showFor(words: Words, { screen, err }: Terminal): Show {
  const verbose = words.verbose === true;
  if (words.quiet) return quietShow(err);
  return screen === null || words.events ? plainShow(err, verbose) : liveShow(screen, verbose);
}

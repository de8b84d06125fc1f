import type { ParsedOptions } from './entry.ts';
import { createLiveReporter } from './live-show.ts';
import { createPlainReporter, createQuietReporter, type Reporter } from './show.ts';
import type { Terminal } from './terminal.ts';

/** The show that suits the terminal and the words: a live view for people, plain lines for all else. */
export function chooseReporter(options: ParsedOptions, { screen, err }: Terminal): Reporter {
  const verbose = options.verbose === true;
  if (options.quiet) return createQuietReporter(err);
  return screen === null || options.events ? createPlainReporter(err, verbose) : createLiveReporter(screen, verbose);
}

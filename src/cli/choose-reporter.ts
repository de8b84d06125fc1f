import type { ParsedOptions } from './command.ts';
import { createLiveReporter } from '../terminal/live/live-reporter.ts';
import { createPlainReporter, createQuietReporter, type Reporter } from '../terminal/reporter.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The show that suits the terminal and the words: a live view for people, plain lines for all else. */
export function chooseReporter(options: ParsedOptions, { screen, err }: Terminal): Reporter {
  const verbose = options.verbose === true;
  if (options.quiet) return createQuietReporter(err);
  return screen === null || options.events ? createPlainReporter(err, verbose) : createLiveReporter(screen, verbose);
}

import { loadConfig } from '../app/config/load-config.ts';
import type { ViewOptions } from '../core/options/view-options.ts';
import type { Terminal } from '../render/terminal/terminal.ts';
import type { ParsedOptions } from './command.ts';

/** The options of the view that were given on the command line. */
export const parseViewFlags = ({ quiet, verbose, logFile, database }: ParsedOptions): Partial<ViewOptions> => ({
  ...(typeof quiet === 'boolean' && { quiet }),
  ...(typeof verbose === 'boolean' && { verbose }),
  ...(typeof logFile === 'string' && { logFile }),
  ...(typeof database === 'string' && { database }),
});

/** Adds options of the view to those of the command line, which go before them: --verbose also before a quiet config. */
export function addViewOptions(options: ParsedOptions, view: Partial<ViewOptions>): ParsedOptions {
  const { quiet, verbose, logFile } = options;
  return {
    ...options,
    quiet: quiet ?? (verbose === true ? false : view.quiet),
    verbose: verbose ?? (quiet === true ? false : view.verbose),
    logFile: logFile ?? view.logFile ?? undefined,
  };
}

/** Adds what the config files say about the view, as far as they are trusted. */
export const addConfiguredView = (options: ParsedOptions, { cwd, env }: Terminal): ParsedOptions =>
  addViewOptions(options, loadConfig(cwd, env).view);

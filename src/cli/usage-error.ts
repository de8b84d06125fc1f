import { EXIT, RaymondError } from '../errors.ts';
import type { ParsedOptions } from './command.ts';

/** The hint of an error for which the general help is the best advice. */
export const SEE_HELP_HINT = 'See raymond --help.';

/** The error of someone who wrote something that the command does not understand. */
export const usageError = (message: string, hint = SEE_HELP_HINT): RaymondError =>
  new RaymondError(message, { exitCode: EXIT.usage, hint });

/** Refuses options that mean nothing to a command. */
export function refuseOptions(options: ParsedOptions, names: readonly string[], command: string): void {
  for (const name of names) {
    if (options[name] !== undefined) throw usageError(`--${formatFlagName(name)} means nothing to ${command}`);
  }
}

/** The option as it is written on the command line. */
export const formatFlagName = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

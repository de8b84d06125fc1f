import { EXIT, RaymondError } from '../errors.ts';
import type { Words } from './entry.ts';

export const SEE_HELP = 'See raymond --help.';

/** The error of someone who wrote something that the command does not understand. */
export const usage = (message: string, hint = SEE_HELP): RaymondError =>
  new RaymondError(message, { exitCode: EXIT.usage, hint });

/** Refuses options that mean nothing to a command. */
export function refuse(words: Words, names: readonly string[], command: string): void {
  for (const name of names) {
    if (words[name] !== undefined) throw usage(`--${kebab(name)} means nothing to ${command}`);
  }
}

/** The option as it is written on the command line. */
export const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

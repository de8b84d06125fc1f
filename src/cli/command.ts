import { readFileSync } from 'node:fs';
import { EXIT, RaymondError } from '../errors.ts';
import { HELP } from './help.ts';
import type { Terminal } from './terminal.ts';
import { readWords } from './words.ts';

/** The whole command: words in, exit code out. Errors that the user can mend are told here and nowhere else. */
export async function main(argv: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await obey(argv, terminal);
  } catch (error) {
    if (!(error instanceof RaymondError)) throw error;
    terminal.err(`raymond: ${error.message}\n${error.hint === undefined ? '' : `${error.hint}\n`}`);
    return error.exitCode;
  }
}

async function obey(argv: readonly string[], terminal: Terminal): Promise<number> {
  const { values: words, positionals } = readWords(argv);
  if (words.help) {
    terminal.out(HELP);
    return EXIT.completed;
  }
  if (words.version) {
    terminal.out(`${version()}\n`);
    return EXIT.completed;
  }
  // Loaded only now: it is most of the program, and who asks for help or the version should not wait for it.
  const { run } = await import('./run.ts');
  return run(words, positionals, terminal);
}

function version(): string {
  const file = new URL('../../package.json', import.meta.url);
  return String((JSON.parse(readFileSync(file, 'utf8')) as { version: unknown }).version);
}

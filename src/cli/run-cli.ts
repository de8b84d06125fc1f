import { EXIT, RaymondError } from '../errors.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { createProgram } from './program.ts';

/** The whole command: words in, exit code out. Errors that the user can mend are told here and nowhere else. */
export async function runCli(argv: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await createProgram(terminal)(argv);
  } catch (error) {
    if (error instanceof RaymondError) {
      terminal.err(`raymond: ${error.message}\n${error.hint === undefined ? '' : `${error.hint}\n`}`);
      return error.exitCode;
    }
    terminal.err(
      `raymond: this is a mistake in Raymond itself, not yours.\n${formatStackTrace(error)}\n${BUG_REPORT_REQUEST}\n`,
    );
    return EXIT.bug;
  }
}

const formatStackTrace = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

const BUG_REPORT_REQUEST =
  'Please report it with the lines above. What was saved of a run is safe: `raymond list` shows it, `raymond resume` goes on.';

import { setImmediate } from 'node:timers/promises';
import { EXIT, errorCodeOf } from '../errors.ts';
import { openProcessTerminal } from '../render/terminal/process-terminal.ts';
import type { Terminal } from '../render/terminal/terminal.ts';
import { runCli } from './program.ts';

/** The exit code as long as there is none: if nothing is left to wait for, the command is not done. */
const UNSETTLED = 13;

process.exitCode = UNSETTLED;
main().then((code) => {
  process.exitCode = code;
  // After an error, turns may still be running. Another process will follow them: this one does not wait.
  setTimeout(() => process.exit(), 1_000).unref();
});

async function main(): Promise<number> {
  const folder = getCurrentFolder();
  if (folder === null) {
    process.stderr.on('error', () => {});
    process.stderr.write('raymond: the current folder no longer exists\nGo to a folder that exists, then try again.\n');
    return EXIT.usage;
  }
  const terminal = openProcessTerminal(folder);
  return checkOutputWritten(await runCli(process.argv.slice(2), terminal), terminal);
}

/** The current folder; null if it was removed meanwhile. */
function getCurrentFolder(): string | null {
  try {
    return process.cwd();
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Output that could not be printed makes a successful command fail. */
async function checkOutputWritten(code: number, { err, takeWriteError }: Terminal): Promise<number> {
  // Streams report errors a moment later.
  await setImmediate();
  const writeError = takeWriteError?.() ?? null;
  if (writeError === null) return code;
  err(`raymond: the output could not be written (${writeError})\n`);
  return code === EXIT.completed ? EXIT.usage : code;
}

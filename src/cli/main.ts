#!/usr/bin/env node
import { setImmediate } from 'node:timers/promises';
import { EXIT, errorCodeOf } from '../errors.ts';
import { openProcessTerminal } from '../terminal/process-terminal.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { runCli } from './program.ts';

process.exitCode = await main();

// After an error, turns may still be under way that somebody else will follow: we do not wait for them.
setTimeout(() => process.exit(), 1_000).unref();

async function main(): Promise<number> {
  const folder = getCurrentFolder();
  if (folder === null) {
    process.stderr.on('error', () => {});
    process.stderr.write('raymond: the current folder is gone\nGo to a folder that is there, then try again.\n');
    return EXIT.usage;
  }
  const terminal = openProcessTerminal(folder);
  return checkOutputWritten(await runCli(process.argv.slice(2), terminal), terminal);
}

/** The folder we were started in; somebody may have removed it since. */
function getCurrentFolder(): string | null {
  try {
    return process.cwd();
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** What was asked for and could not be printed is a failure, unless something worse has happened or a run is on record. */
async function checkOutputWritten(code: number, { err, takeWriteError }: Terminal): Promise<number> {
  // Streams tell what went wrong a moment later.
  await setImmediate();
  const writeError = takeWriteError?.() ?? null;
  if (writeError === null) return code;
  err(`raymond: what was to be printed could not be written (${writeError})\n`);
  return code === EXIT.completed ? EXIT.usage : code;
}

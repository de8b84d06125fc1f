#!/usr/bin/env node
import { setImmediate } from 'node:timers/promises';
import { codeOf, EXIT } from '../errors.ts';
import { obey } from './obey.ts';
import type { Terminal } from './terminal.ts';
import { thisTerminal } from './this-terminal.ts';

process.exitCode = await main();

// After an error, turns may still be under way that somebody else will follow: we do not wait for them.
setTimeout(() => process.exit(), 1_000).unref();

async function main(): Promise<number> {
  const folder = thisFolder();
  if (folder === null) {
    process.stderr.on('error', () => {});
    process.stderr.write('raymond: the current folder is gone\nGo to a folder that is there, then try again.\n');
    return EXIT.usage;
  }
  const terminal = thisTerminal(folder);
  return allSaid(await obey(process.argv.slice(2), terminal), terminal);
}

/** The folder we were started in; somebody may have removed it since. */
function thisFolder(): string | null {
  try {
    return process.cwd();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** What was asked for and could not be printed is a failure, unless something worse has happened or a run is on record. */
async function allSaid(code: number, { err, takeFault }: Terminal): Promise<number> {
  // Streams tell what went wrong a moment later.
  await setImmediate();
  const fault = takeFault?.() ?? null;
  if (fault === null) return code;
  err(`raymond: what was to be printed could not be written (${fault})\n`);
  return code === EXIT.completed ? EXIT.usage : code;
}

#!/usr/bin/env node
import { obey } from './obey.ts';
import { thisTerminal } from './this-terminal.ts';

/** Whoever read what we print may have left; that is no reason to stop. */
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

process.exitCode = await obey(process.argv.slice(2), thisTerminal());

// After an error, turns may still be under way that somebody else will follow: we do not wait for them.
setTimeout(() => process.exit(), 1_000).unref();

#!/usr/bin/env node
import { obey } from './obey.ts';
import { thisTerminal } from './this-terminal.ts';

/** Whoever read what we print may have left, and the terminal with him; that is no reason to stop. */
const LEFT: ReadonlySet<string> = new Set(['EPIPE', 'EIO']);

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (!LEFT.has(error.code ?? '')) throw error;
  });
}

process.exitCode = await obey(process.argv.slice(2), thisTerminal());

// After an error, turns may still be under way that somebody else will follow: we do not wait for them.
setTimeout(() => process.exit(), 1_000).unref();

#!/usr/bin/env node
import { main } from './command.ts';

/** Whoever read what we print may have left; that is no reason to stop. */
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

process.exitCode = await main(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  onInterrupt(act) {
    process.on('SIGINT', act);
    process.on('SIGTERM', act);
    return () => {
      process.off('SIGINT', act);
      process.off('SIGTERM', act);
    };
  },
});

// After an error, turns may still be under way that somebody else will follow: we do not wait for them.
setTimeout(() => process.exit(), 1_000).unref();

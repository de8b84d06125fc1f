#!/usr/bin/env node
import { main } from './command.ts';

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

#!/usr/bin/env node
import { main } from './command.ts';

process.exitCode = await main(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  platform: process.platform === 'win32' ? 'windows' : 'unix',
});

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { MARKER_VARIABLE, WRAPPER_VARIABLE } from './command.ts';
import type { ProcessEntry } from './process-entry.ts';

const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

/** Reads the process table of macOS, which has no `/proc`. Written from its manual; only the parser is tested. */
export async function readPs(): Promise<readonly ProcessEntry[]> {
  const columns = ['-o', 'pid=', '-o', 'pgid=', '-o', 'stat=', '-o', 'lstart=', '-o', 'command='];
  const { stdout } = await run('/bin/ps', ['-axEww', ...columns], {
    env: { LC_ALL: 'C' },
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  return parsePs(stdout);
}

/**
 * Parses the output of `ps`. The environment follows the arguments with nothing between, and the system hides it for
 * its own programs, `/bin/sh` among them; so a line without the marker proves nothing.
 */
export function parsePs(text: string): readonly ProcessEntry[] {
  const entries: ProcessEntry[] = [];
  for (const line of text.split('\n')) {
    const found = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]{8}\s+\d{4})\s(.*)$/.exec(line);
    if (found === null) continue;
    const [, pid = '', group = '', state = '', start = '', rest = ''] = found;
    entries.push({
      pid: Number(pid),
      group: Number(group),
      start: start.replace(/\s+/g, ' '),
      program: rest.trim(),
      zombie: state.startsWith('Z'),
      marker: rest.match(new RegExp(`(?:^| )${MARKER_VARIABLE}=(\\S+)`))?.[1],
      wrapper: rest.includes(` ${WRAPPER_VARIABLE}=1`),
    });
  }
  return entries;
}

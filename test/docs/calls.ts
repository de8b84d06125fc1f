import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProgram } from '../../src/cli/program.ts';
import { parseRunOptions } from '../../src/cli/run-options.ts';
import type { Terminal } from '../../src/render/terminal/terminal.ts';

/** Records the commands of a script instead of running them: the number of words, then the words. */
const RECORDER = `
PATH=/nowhere
record() { printf '%s\\0' "$#" "$@" >> "$CALLS"; }
command_not_found_handle() { record "$@"; }
raymond() { record raymond "$@"; }
cd() { :; }
`;

/** The calls of Raymond in a shell script, as the shell parses them, without running anything. */
export function raymondCalls(script: string): readonly (readonly string[])[] {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-calls-'));
  try {
    const calls = join(folder, 'calls');
    const env = { CALLS: calls, HOME: folder };
    execFileSync('/bin/bash', ['-c', `${RECORDER}: >> "$CALLS"\n${script}\nwait`], { cwd: folder, env, stdio: 'pipe' });
    return parseCalls(readFileSync(calls, 'utf8')).flatMap((words) => {
      const at = words.indexOf('raymond');
      return at === -1 ? [] : [words.slice(at + 1)];
    });
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function parseCalls(text: string): readonly (readonly string[])[] {
  const words = text.split('\0');
  const calls: string[][] = [];
  for (let at = 0; at < words.length - 1; ) {
    const count = Number(words[at]);
    calls.push(words.slice(at + 1, at + 1 + count));
    at += 1 + count;
  }
  return calls;
}

/** Checks that the command accepts these arguments; rejects with its error otherwise. */
export async function checkArguments(argv: readonly string[]): Promise<void> {
  const terminal: Terminal = {
    out: () => {},
    err: () => {},
    cwd: '/',
    env: {},
    screen: null,
    onInterrupt: () => () => {},
  };
  await createProgram(terminal, async ({ name }, _args, words) => {
    if (name === 'run' || name === 'resume') parseRunOptions(words, '/');
    return 0;
  })(argv);
}

/** The number of lines of a script that call Raymond. */
export const countRaymondLines = (script: string): number =>
  script.split('\n').filter((line) => /^[^#"']*\braymond\s/.test(line)).length;

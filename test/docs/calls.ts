import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProgram } from '../../src/cli/program.ts';
import { parseRunOptions } from '../../src/cli/run-options.ts';
import type { Terminal } from '../../src/terminal/terminal.ts';

/** Whatever a script would call is only written down: a word count, then the words. */
const RECORDER = `
PATH=/nowhere
record() { printf '%s\\0' "$#" "$@" >> "$CALLS"; }
command_not_found_handle() { record "$@"; }
raymond() { record raymond "$@"; }
cd() { :; }
`;

/** The calls of Raymond in a shell script, as the shell understands them. Nothing of it is carried out. */
export function raymondCalls(script: string): readonly (readonly string[])[] {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-calls-'));
  try {
    const calls = join(folder, 'calls');
    const env = { CALLS: calls, HOME: folder };
    execFileSync('/bin/bash', ['-c', `${RECORDER}: >> "$CALLS"\n${script}\nwait`], { cwd: folder, env, stdio: 'pipe' });
    return recorded(readFileSync(calls, 'utf8')).flatMap((words) => {
      const at = words.indexOf('raymond');
      return at === -1 ? [] : [words.slice(at + 1)];
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function recorded(text: string): readonly (readonly string[])[] {
  const words = text.split('\0');
  const calls: string[][] = [];
  for (let at = 0; at < words.length - 1; ) {
    const count = Number(words[at]);
    calls.push(words.slice(at + 1, at + 1 + count));
    at += 1 + count;
  }
  return calls;
}

/** Makes sure that the command would take these words; rejects with what it has against them. */
export async function accept(argv: readonly string[]): Promise<void> {
  const nobody: Terminal = {
    out: () => {},
    err: () => {},
    cwd: '/',
    env: {},
    screen: null,
    onInterrupt: () => () => {},
  };
  await createProgram(nobody, async ({ name }, _args, words) => {
    if (name === 'run' || name === 'resume') parseRunOptions(words, '/');
    return 0;
  })(argv);
}

/** How many lines of a script speak to Raymond. */
export const linesWithRaymond = (script: string): number =>
  script.split('\n').filter((line) => /^[^#"']*\braymond\s/.test(line)).length;

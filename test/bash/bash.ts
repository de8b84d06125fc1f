import { spawnSync } from 'node:child_process';

/** Runs one bash for all of these texts: the script does its work for each `$case`, and its outputs come back in order. */
export function inBash(script: string, cases: readonly string[]): readonly string[] {
  const loop = `for case in "$@"; do\n${script}\nprintf '\\1'; done`;
  const { stdout, error } = spawnSync('/bin/bash', ['-c', loop, 'bash', ...cases], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  });
  if (error !== undefined) throw error;
  return stdout.split('\x01').slice(0, -1);
}

import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import type { Folder } from './folder.ts';

/** The output of a block, with both streams interleaved, and its exit code. */
export interface BlockResult {
  readonly output: string;
  readonly code: number | null;
}

const TIMEOUT_MS = 60_000;

/** Runs a block of shell commands in the directory that the block before it left. The first failure ends it. */
export function runShell(text: string, folder: Folder): Promise<BlockResult> {
  const script = `trap 'pwd > "$DOCS_PWD"' EXIT\nset -e -o pipefail\n${text.split('\n').map(checkExitCode).join('\n')}`;
  const cwd = existsSync(folder.pwd) ? readFileSync(folder.pwd, 'utf8').trim() : folder.path;
  return run('/bin/bash', ['-c', script], cwd, { ...folder.env, DOCS_PWD: folder.pwd });
}

/** Runs a program with Node. */
export const runNode = (file: string, folder: Folder): Promise<BlockResult> =>
  run(process.execPath, [file], folder.path, folder.env);

/** Turns `COMMAND # exits with N` into a command that fails unless it exits with N. */
function checkExitCode(line: string): string {
  const [, command, code] = /^(.*\S)\s+# exits with (\d+)$/.exec(line) ?? [];
  if (command === undefined || code === undefined) return line;
  const otherwise = `{ echo "it exits with $code, not with ${code}: "${quoted(command)}; exit 1; }`;
  return `code=0; ${command} || code=$?; [ "$code" -eq ${code} ] || ${otherwise}`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function run(file: string, args: readonly string[], cwd: string, env: Folder['env']): Promise<BlockResult> {
  return new Promise((done, fail) => {
    // Both streams are one, so that lines come in the order in which they were printed.
    const command = ['-c', 'exec "$0" "$@" 2>&1', file, ...args];
    const child = spawn('/bin/sh', command, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
    const timer = setTimeout(() => process.kill(-(child.pid ?? 0), 'SIGKILL'), TIMEOUT_MS);
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.on('error', fail);
    child.on('close', (code) => {
      clearTimeout(timer);
      done({ output, code });
    });
  });
}

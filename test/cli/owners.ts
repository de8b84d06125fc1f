import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import type { CliProject } from './cli-project.ts';

const CLI = join(import.meta.dirname, '..', '..', 'dist', 'raymond.js');

/** A `raymond` in its own process. */
export interface OwnerProcess {
  readonly pid: number;
  /** Resolves to the exit code; null if it was killed. */
  readonly exited: Promise<number | null>;
  readonly err: () => string;
  signal(name: NodeJS.Signals): void;
}

/** Starts `raymond` with these arguments. It is killed after the test. */
export const startOwner = (cwd: string, ...argv: readonly string[]): OwnerProcess =>
  startOwnerWith(process.env, cwd, ...argv);

/** Starts `raymond` in a project, as the user to whom its settings belong. */
export const startOwnerIn = (
  { cwd, configHome }: Pick<CliProject, 'cwd' | 'configHome'>,
  ...argv: readonly string[]
): OwnerProcess => startOwnerWith({ ...process.env, XDG_CONFIG_HOME: configHome }, cwd, ...argv);

function startOwnerWith(env: NodeJS.ProcessEnv, cwd: string, ...argv: readonly string[]): OwnerProcess {
  const child = spawn(process.execPath, [CLI, ...argv], { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
  let err = '';
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  const exited = new Promise<number | null>((done) => child.on('close', done));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  return { pid: child.pid ?? -1, exited, err: () => err, signal: (name) => void child.kill(name) };
}

/** Writes the states of a workflow. */
export function writeWorkflow(cwd: string, name: string, states: Readonly<Record<string, string>>): void {
  mkdirSync(join(cwd, name), { recursive: true });
  for (const [file, text] of Object.entries(states)) writeFileSync(join(cwd, name, file), text);
}

/** Waits until there is a file of this name. */
export const appears = (cwd: string, name: string): Promise<boolean> =>
  vi.waitUntil(() => existsSync(join(cwd, name)), { timeout: 20_000, interval: 10 });

/**
 * A script that says in a file that it is here, waits for a file named `go`, and then prints its tag. It ends when its
 * workflow is gone, so that no test leaves it behind.
 */
export const waiting = (tag: string, here = 'here'): string =>
  `touch ${here}; while [ -e wf ] && [ ! -e go ]; do sleep 0.02; done; [ -e wf ] && echo '${tag}'`;

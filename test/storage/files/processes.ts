import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const ROOT = join(import.meta.dirname, '../../..');

/** Compiles the sources into a folder for separate processes, because dist may be outdated. */
export function compileInto(folder: string): void {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const made = spawnSync(process.execPath, [tsc, '-p', join(ROOT, 'tsconfig.build.json'), '--outDir', folder]);
  if (!existsSync(join(folder, 'storage/files/lease.js'))) throw new Error(String(made.stdout));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
}

/** A running fixture program and its output lines. */
export interface Program {
  readonly pid: number | undefined;
  /** The next line; undefined when it has ended. */
  line(): Promise<string | undefined>;
  tell(line: string): void;
  /** Sends SIGKILL and resolves to the unread lines. */
  kill(): Promise<readonly string[]>;
}

export function startProgram(name: string, ...args: readonly string[]): Program {
  const file = join(import.meta.dirname, 'fixtures', name);
  const child = spawn(process.execPath, [file, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const over = once(child, 'close');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async (): Promise<string | undefined> => {
    const next = await lines.next();
    return next.done ? undefined : next.value;
  };
  return {
    pid: child.pid,
    line,
    tell: (text) => void child.stdin.write(`${text}\n`),
    async kill() {
      child.kill('SIGKILL');
      const unread: string[] = [];
      for (let next = await line(); next !== undefined; next = await line()) unread.push(next);
      await over;
      return unread;
    },
  };
}

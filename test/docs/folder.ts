import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROJECT } from './pages.ts';

/** The folder in which the commands of a page run. */
export interface Folder {
  /** The working directory of the commands; it contains the examples. */
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
  /** A file in which the shell of one block leaves its directory for the next. */
  readonly pwd: string;
  remove(): void;
}

/** Creates such a folder, with `raymond` on the PATH and as a package, and with an empty home. */
export function makeFolder(): Folder {
  const root = mkdtempSync(join(tmpdir(), 'raymond-page-'));
  const [path, bin, home] = ['project', 'bin', 'home'].map((name) => {
    const folder = join(root, name);
    mkdirSync(folder);
    return folder;
  }) as [string, string, string];
  cpSync(join(PROJECT, 'examples'), join(path, 'examples'), { recursive: true });
  mkdirSync(join(path, 'node_modules', '@types'), { recursive: true });
  symlinkSync(PROJECT, join(path, 'node_modules', 'raymond'));
  symlinkSync(join(PROJECT, 'node_modules', '@types', 'node'), join(path, 'node_modules', '@types', 'node'));
  program(join(bin, 'raymond'), `exec '${process.execPath}' '${join(PROJECT, 'dist', 'raymond.js')}' "$@"`);
  // No page may use an account.
  program(join(bin, 'claude'), 'echo "this is a test without Claude Code" >&2; exit 1');
  return {
    path,
    env: {
      PATH: [bin, process.env.PATH ?? ''].join(':'),
      HOME: home,
      LC_ALL: 'C.UTF-8',
      // A repository or a `.raymond` above the temporary folder is not the page's.
      GIT_CEILING_DIRECTORIES: tmpdir(),
      // Canned answers take no time here.
      RAYMOND_REPLAY: 'fast',
    },
    pwd: join(root, 'pwd'),
    remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }),
  };
}

function program(file: string, line: string): void {
  writeFileSync(file, `#!/bin/sh\n${line}\n`);
  chmodSync(file, 0o755);
}

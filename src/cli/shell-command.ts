import { existsSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { quoteShellArgument } from '../events/format.ts';
import { resolvePackageFile } from '../package-files.ts';
import type { Terminal } from '../terminal/terminal.ts';

const MAIN_FILE = resolvePackageFile('dist/raymond.js');
const EXECUTABLE_NAMES = process.platform === 'win32' ? ['raymond.cmd', 'raymond.exe'] : ['raymond'];

/** How Raymond is called from a folder: by its name if that is on the PATH, else by its file. */
export function findRaymondCommand(folder: string, { env }: Pick<Terminal, 'env'>): string {
  const pathFolders = (env.PATH ?? env.Path ?? '').split(delimiter).filter((pathFolder) => pathFolder !== '');
  if (pathFolders.some((pathFolder) => EXECUTABLE_NAMES.some((name) => existsSync(join(pathFolder, name)))))
    return 'raymond';
  const relativePath = relative(folder, MAIN_FILE);
  return `node ${quoteShellArgument(relativePath.length < MAIN_FILE.length ? relativePath : MAIN_FILE)}`;
}

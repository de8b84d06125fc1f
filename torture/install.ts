import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The project's folder, which does not depend on where this file was compiled to. */
export const PROJECT = projectAbove(import.meta.dirname);

/** Packs Raymond, installs the package into a folder as a user would, and returns the path of the command. */
export async function installRaymond(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], { cwd: PROJECT });
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz'));
  if (tarball === undefined) throw new Error('npm pack left no tarball');
  // Without a package.json in the folder npm would install into a folder further up.
  await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
  const quietly = ['--no-audit', '--no-fund', '--omit=dev', '--prefer-offline', '--loglevel=error'];
  await run('npm', ['install', ...quietly, join(folder, tarball)], { cwd: folder });
  return join(folder, 'node_modules', '.bin', 'raymond');
}

/** The path of Claude Code in a pinned version. */
export function claudeOf(version: string): string {
  const path = join(PROJECT, 'test', 'claude-code', 'node_modules', `claude-code-${version}`, 'bin', 'claude.exe');
  if (!existsSync(path)) throw new Error(`there is no Claude Code ${version}: node test/claude-code/install.mjs`);
  return path;
}

function projectAbove(folder: string): string {
  const file = join(folder, 'package.json');
  if (existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).name === 'raymond') return folder;
  if (dirname(folder) === folder) throw new Error('this is not in the project of Raymond');
  return projectAbove(dirname(folder));
}

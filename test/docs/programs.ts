import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Folder } from './folder.ts';
import type { Block } from './page.ts';
import { type Page, PROJECT } from './pages.ts';

const COMPILED = 'compiled';
const TSC = join(PROJECT, 'node_modules', '.bin', 'tsc');
const OPTIONS = '--allowJs --checkJs --strict --target es2023 --module nodenext --types node --skipLibCheck'.split(' ');

/** True for a block that is a program using the library. */
export const isProgram = ({ kind }: Block): boolean => kind === 'js' || kind === 'ts';

/** The file to run for the program of a block. A program with a name is run by the page's own commands. */
export function programFile(folder: Folder, block: Block): string {
  const source = sourceFile(block);
  return join(folder.path, block.kind === 'ts' ? join(COMPILED, source.replace(/\.mts$/, '.mjs')) : source);
}

/** Writes all programs of a page, compiles them at once and returns the compiler's errors. */
export async function compile(page: Page, folder: Folder): Promise<string> {
  const programs = page.blocks.filter(isProgram);
  if (programs.length === 0) return '';
  const files = programs.map((block) => {
    const file = join(folder.path, sourceFile(block));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${block.text}\n`);
    return file;
  });
  const args = [...OPTIONS, '--rootDir', folder.path, '--outDir', join(folder.path, COMPILED), ...files];
  return promisify(execFile)(TSC, args, { cwd: folder.path }).then(
    () => '',
    (error: { readonly stdout?: string }) => error.stdout || String(error),
  );
}

const sourceFile = ({ kind, name, line }: Block): string =>
  name === '' ? `example-line-${line}.${kind === 'ts' ? 'mts' : 'mjs'}` : name;

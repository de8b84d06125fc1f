import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Folder } from './folder.ts';
import type { Block } from './page.ts';
import type { Page } from './pages.ts';
import { isProgram, programFile } from './programs.ts';
import { runNode, runShell } from './shell.ts';

const FILES = ['markdown', 'bash', 'toml', 'yaml', 'json', 'ini'];

/** True for a block that is a file for the commands of its page: its name follows its kind. */
const isFile = ({ kind, name }: Block): boolean => FILES.includes(kind) && name !== '';

/** True for a block that is run as it is: not if it needs an account, sets up Raymond or is a program that a command runs. */
const isRun = (block: Block, page: Page): boolean =>
  block.name === '' && (isProgram(block) || (block.kind === 'sh' && !isSetup(block, page)));

/** The commands that set up the project itself are left to test/readme.test.ts. */
const isSetup = ({ text }: Block, { path }: Page): boolean => path === 'README.md' && text.startsWith('npm ci');

/** True for a page with commands or programs to run. */
export const hasCommands = (page: Page): boolean => page.blocks.some((block) => isRun(block, page));

/** Runs a page from top to bottom: writes its files, runs its commands and programs, and compares their output. */
export async function runPage(page: Page, folder: Folder): Promise<void> {
  for (const [index, block] of page.blocks.entries()) {
    if (isFile(block)) write(folder, block);
    if (!isRun(block, page)) continue;
    const running = isProgram(block) ? runNode(programFile(folder, block), folder) : runShell(block.text, folder);
    const { output, code } = await running;
    const place = `${page.path}:${block.line}`;
    if (code !== 0) throw new Error(`${place}: this block ended with ${code ?? 'a signal'}:\n${output}`);
    const next = page.blocks[index + 1];
    if (next !== undefined && isOutput(next) && !matchesOutput(output, next.text)) {
      throw new Error(`${place}: this block does not print the expected output, but:\n${output}`);
    }
  }
}

/** True for a block with the expected output of the block before it. */
export const isOutput = ({ kind, name }: Block): boolean => kind === 'text' && name === 'output';

/** Compares an output with the expected one, in which `…` stands for anything in a line or, alone, for any lines. */
export function matchesOutput(output: string, expected: string): boolean {
  const pattern = expected
    .trim()
    .split('\n')
    .map((line) => (line.trim() === '…' ? '(?:.*\\n)*?' : `${line.split('…').map(escapePattern).join('.*')}\\s*?\\n`));
  return new RegExp(`^${pattern.join('')}$`).test(`${output.trim()}\n`);
}

const escapePattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

function write(folder: Folder, { name, text }: Block): void {
  const file = join(folder.path, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${text}\n`);
}

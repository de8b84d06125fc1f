import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Folder } from './folder.ts';
import type { Block } from './page.ts';
import type { Page } from './pages.ts';
import { isProgram, programFile } from './programs.ts';
import { runNode, runShell } from './shell.ts';

const FILES = ['markdown', 'bash', 'toml', 'yaml', 'json', 'ini'];

/** Whether a block is a file that the page's commands find in their folder: its name stands behind its kind. */
const isFile = ({ kind, name }: Block): boolean => FILES.includes(kind) && name !== '';

/** Whether a block is carried out as it stands: not what needs an account or sets up, nor a program that a command runs. */
const isCarriedOut = (block: Block, page: Page): boolean =>
  block.name === '' && (isProgram(block) || (block.kind === 'sh' && !isLeftToReadme(block, page)));

/** How the project itself is set up is not tried in a test of the project; test/readme.test.ts looks at it. */
const isLeftToReadme = ({ text }: Block, { path }: Page): boolean => path === 'README.md' && text.startsWith('npm ci');

/** Whether there is anything on a page to be carried out. */
export const hasStory = (page: Page): boolean => page.blocks.some((block) => isCarriedOut(block, page));

/** Follows a page from top to bottom: its files are written, its commands and programs carried out. */
export async function follow(page: Page, folder: Folder): Promise<void> {
  for (const [index, block] of page.blocks.entries()) {
    if (isFile(block)) write(folder, block);
    if (!isCarriedOut(block, page)) continue;
    const ran = isProgram(block) ? runNode(programFile(folder, block), folder) : runShell(block.text, folder);
    const { output, code } = await ran;
    const place = `${page.path}:${block.line}`;
    if (code !== 0) throw new Error(`${place}: this block ended with ${code ?? 'a signal'}:\n${output}`);
    const next = page.blocks[index + 1];
    if (next !== undefined && isOutput(next) && !looksLike(output, next.text)) {
      throw new Error(`${place}: this block does not print what is stated, but:\n${output}`);
    }
  }
}

/** Whether a block states what the one before it prints. */
export const isOutput = ({ kind, name }: Block): boolean => kind === 'text' && name === 'output';

/** Whether an output is the stated one: `…` stands for anything in a line, and by itself for any lines. */
export function looksLike(output: string, stated: string): boolean {
  const pattern = stated
    .trim()
    .split('\n')
    .map((line) => (line.trim() === '…' ? '(?:.*\\n)*?' : `${line.split('…').map(literally).join('.*')}\\s*?\\n`));
  return new RegExp(`^${pattern.join('')}$`).test(`${output.trim()}\n`);
}

const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

function write(folder: Folder, { name, text }: Block): void {
  const file = join(folder.path, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${text}\n`);
}

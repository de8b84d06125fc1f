import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Block, readPage, type Section } from './page.ts';

/** The root folder of the project. */
export const PROJECT = join(import.meta.dirname, '..', '..');

/** A page of the documentation, named by its path in the project. */
export interface Page {
  readonly path: string;
  readonly text: string;
  readonly sections: readonly Section[];
  readonly blocks: readonly Block[];
}

/** Reads a page of the documentation. */
export function openPage(path: string): Page {
  const text = readFileSync(join(PROJECT, path), 'utf8');
  const sections = readPage(text);
  return { path, text, sections, blocks: sections.flatMap(({ blocks }) => blocks) };
}

/** Reads all pages, the README first. */
export function allPages(): readonly Page[] {
  const docs = readdirSync(join(PROJECT, 'docs')).filter((name) => name.endsWith('.md'));
  const examples = readdirSync(join(PROJECT, 'examples')).filter((name) => /^[a-z]/.test(name));
  return [
    'README.md',
    ...docs.sort().map((name) => `docs/${name}`),
    'examples/README.md',
    ...examples.sort().map((name) => `examples/${name}/README.md`),
  ].map(openPage);
}

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { InvalidWorkflow } from '../../src/workflow/invalid-workflow.ts';
import { openWorkflow, type Workflow } from '../../src/workflow/workflow.ts';
import type { Block, Section } from './page.ts';

/** The workflow that a section of the documentation talks about. */
export interface Example {
  readonly files: Readonly<Record<string, string>>;
  /** The folders that a `cd` can name. */
  readonly folders: Readonly<Record<string, string>>;
}

const FILE_KINDS = ['markdown', 'bash'];
export const CWD = '/project';
const STUB = 'Do this step.\n';

/** The files that a section shows, beside the states that it, or the nearest section around it, lists by name. */
export function exampleOf(section: Section): Example {
  const listed = statesListed(section);
  const states = listed.filter((name) => !name.endsWith('/')).map((name) => [name, STUB]);
  const folders = listed.filter((name) => name.endsWith('/')).map((name) => name.slice(0, -1));
  return {
    files: { ...Object.fromEntries(states), ...Object.fromEntries(filesShown(section).map(fileOf)) },
    folders: Object.fromEntries(folders.map((name) => [name, `${CWD}/${name}`])),
  };
}

/** The files that a section shows in full. */
export const filesShown = (section: Section): readonly Block[] =>
  section.blocks.filter(({ kind }) => FILE_KINDS.includes(kind));

/** Writes an example to disk for the time of a test, and opens it. */
export function openExample(example: Example): Promise<Workflow> {
  const parent = mkdtempSync(join(tmpdir(), 'raymond-docs-'));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  const folder = join(parent, 'example');
  mkdirSync(folder);
  for (const [name, text] of Object.entries(example.files)) writeFileSync(join(folder, basename(name)), text);
  return openWorkflow(folder, 'unix');
}

/** All findings about an example before it runs. */
export async function findingsOf(example: Example): Promise<string> {
  const findings = await openExample(example).then(
    (workflow) => workflow.findings,
    (error: unknown) => {
      if (error instanceof InvalidWorkflow) return error.findings;
      throw error;
    },
  );
  return findings
    .map(({ level, file, line, column, message }) => {
      return `${level === 'warning' ? 'warning: ' : ''}${file}:${line}:${column}: ${message}`;
    })
    .join('\n');
}

function statesListed(section: Section): readonly string[] {
  const block = section.blocks.find(({ kind }) => kind === 'states');
  if (block !== undefined) return block.text.split(/\s+/);
  return section.parent === undefined ? [] : statesListed(section.parent);
}

const fileOf = ({ name, text }: Block): [string, string] => [name, `${text}\n`];

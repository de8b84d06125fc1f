import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Block, readPage } from '../docs/page.ts';
import type { Files } from './source-of.ts';

/** The section of docs/lint.md about one rule: a workflow with the mistake, its findings, and the corrected one. */
export interface RuleExample {
  readonly rule: string;
  readonly level: string;
  readonly bad: Files;
  readonly findings: string;
  readonly good: Files;
}

const PAGE = join(import.meta.dirname, '..', '..', 'docs', 'lint.md');

/** The sections of docs/lint.md that are about a rule: files, findings, files again. */
export function readRuleExamples(): readonly RuleExample[] {
  const text = readFileSync(PAGE, 'utf8');
  return readPage(text).flatMap(({ title: rule, level: depth, blocks }) => {
    if (depth !== 3) return [];
    const middle = blocks.findIndex(({ kind }) => kind === 'findings');
    const level = new RegExp(`^### ${rule}\\n\\n\\*\\*(\\w+)\\.\\*\\*`, 'm').exec(text)?.[1] ?? '';
    const [bad, good] = [blocks.slice(0, middle), blocks.slice(middle + 1)].map(filesOf);
    return [{ rule, level, bad: bad ?? {}, findings: blocks[middle]?.text ?? '', good: good ?? {} }];
  });
}

/** Invisible characters are described after the name of the file. */
function filesOf(blocks: readonly Block[]): Files {
  return Object.fromEntries(
    blocks.map(({ name, text, above }) => {
      const [file = '', ...how] = name.split(' ');
      if (!above.startsWith(`\`${file}\``)) throw new Error(`${name} is not named above`);
      const content = `${text}\n`;
      if (how.join(' ') === '(with CR LF)') return [file, content.replaceAll('\n', '\r\n')];
      if (how.join(' ') === '(with a byte order mark)') return [file, `\uFEFF${content}`];
      return [file, how.join(' ') === '(in Latin-1)' ? Buffer.from(content, 'latin1') : content];
    }),
  );
}

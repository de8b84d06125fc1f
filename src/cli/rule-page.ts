import { readFileSync } from 'node:fs';
import { didYouMean } from '../core/nearest.ts';
import { shipped } from '../shipped.ts';
import type { Wrap } from './lint-page.ts';
import { usage } from './usage.ts';

const BOOK = shipped('docs/lint.md');
const WHERE = `All rules are explained in ${BOOK}.`;

/** What docs/lint.md says about a rule, for the terminal: what it means, a mistake, what is found, and what is better. */
export function rulePage(rule: string, columns: number, wrap: Wrap): readonly string[] {
  const sections = readFileSync(BOOK, 'utf8').split(/^(?=##+ )/m);
  const rules = sections.flatMap((section) => /^### (\S+)\n/.exec(section)?.[1] ?? []);
  const section = sections.find((each) => each.startsWith(`### ${rule}\n`));
  if (section === undefined) throw usage(`lint has no rule \`${rule}\`${didYouMean(rule, rules)}`, WHERE);
  const text = section.replace(/^### .*\n+\*\*(\w+)\.\*\* /, `${rule} ($1)\n\n`);
  // Prose and code take turns: every second fence closes a block.
  const parts = text.split(/^```.*\n/m).map((part, at) => (at % 2 === 0 ? prose(part, columns, wrap) : indented(part)));
  return [...parts.filter((part) => part !== ''), WHERE].join('\n\n').split('\n');
}

/** Paragraphs, each as long as the terminal is wide. */
function prose(text: string, columns: number, wrap: Wrap): string {
  const paragraphs = text.trim().split(/\n{2,}/);
  return paragraphs
    .map((each) => wrap(each.replaceAll('\n', ' ').replaceAll('**', ''), columns).join('\n'))
    .join('\n\n');
}

const indented = (code: string): string => code.trimEnd().replace(/^(?=.)/gm, '    ');

import { readFileSync } from 'node:fs';
import { didYouMean } from '../../core/nearest.ts';
import { resolvePackageFile } from '../../package-files.ts';
import { usageError } from '../usage-error.ts';
import type { TextWrapper } from './lint-report.ts';

const LINT_DOCS = resolvePackageFile('docs/lint.md');
const LINT_DOCS_HINT = `All rules are explained in ${LINT_DOCS}.`;

/** What docs/lint.md says about a rule, for the terminal: what it means, a mistake, what is found, and what is better. */
export function renderRuleExplanation(rule: string, columns: number, wrap: TextWrapper): readonly string[] {
  const sections = readFileSync(LINT_DOCS, 'utf8').split(/^(?=##+ )/m);
  const rules = sections.flatMap((section) => /^### (\S+)\n/.exec(section)?.[1] ?? []);
  const section = sections.find((each) => each.startsWith(`### ${rule}\n`));
  if (section === undefined) throw usageError(`lint has no rule \`${rule}\`${didYouMean(rule, rules)}`, LINT_DOCS_HINT);
  const text = section.replace(/^### .*\n+\*\*(\w+)\.\*\* /, `${rule} ($1)\n\n`);
  // Prose and code take turns: every second fence closes a block.
  const parts = text
    .split(/^```.*\n/m)
    .map((part, at) => (at % 2 === 0 ? wrapProse(part, columns, wrap) : indentCode(part)));
  return [...parts.filter((part) => part !== ''), LINT_DOCS_HINT].join('\n\n').split('\n');
}

/** Paragraphs, each as long as the terminal is wide. */
function wrapProse(text: string, columns: number, wrap: TextWrapper): string {
  const paragraphs = text.trim().split(/\n{2,}/);
  return paragraphs
    .map((each) => wrap(each.replaceAll('\n', ' ').replaceAll('**', ''), columns).join('\n'))
    .join('\n\n');
}

const indentCode = (code: string): string => code.trimEnd().replace(/^(?=.)/gm, '    ');

import type { Platform } from '../language/state-names.ts';
import { newFindingReport } from '../yaml/finding-report.ts';
import { readYaml } from '../yaml/read-yaml.ts';
import { EMPTY_FRONTMATTER } from './frontmatter-keys.ts';
import { type ParsedStateText, readFrontmatter } from './prompt-file.ts';

/** The comments of shell and PowerShell scripts, and of batch files. */
const COMMENTS = { '#': /^#[ \t]?/, REM: /^[ \t]*(?:REM\b|::)[ \t]?/i } as const;

/** A line that begins a block of frontmatter: a single lower-case word and a colon. Other comments between lines of dashes are comments. */
const FIRST_KEY = /^[a-z_]+[ \t]*:/;

/**
 * Reads the text of a script. Its frontmatter is a block of comments between `# ---` lines at its beginning, below the
 * line with the interpreter; the body is the whole script.
 */
export function parseScriptFile(file: string, text: string, platform: Platform): ParsedStateText {
  const report = newFindingReport(file);
  const block = findCommentBlock(text, commentsOf(file));
  if (block === undefined) return { frontmatter: EMPTY_FRONTMATTER, keys: {}, body: text, findings: [] };
  if (block.yaml === null) {
    const message = 'the frontmatter that this line opens is never closed: repeat the line after its last key';
    report.error({ line: block.firstLine - 1, column: 1 }, message);
    return { frontmatter: EMPTY_FRONTMATTER, keys: {}, body: text, findings: report.findings };
  }
  const yaml = readYaml(block.yaml, report, block.firstLine);
  return { ...readFrontmatter(yaml, report, platform, 'script'), body: text, findings: report.findings };
}

/** True if a script has frontmatter, whatever is in it. */
export const hasScriptFrontmatter = (file: string, text: string): boolean =>
  findCommentBlock(text, commentsOf(file)) !== undefined;

const commentsOf = (file: string): RegExp => (file.endsWith('.bat') ? COMMENTS.REM : COMMENTS['#']);

/**
 * Finds the frontmatter of a script; its `yaml` is null if it is not closed. The comment signs become blanks, so that
 * columns stay as they are in the file.
 */
function findCommentBlock(text: string, comment: RegExp): { yaml: string | null; firstLine: number } | undefined {
  const lines = text.split(/\r?\n/, MAX_LINES);
  const contentOf = (line: string): string | undefined =>
    comment.test(line) ? line.replace(comment, '').trimEnd() : undefined;
  const open = lines.findIndex((line, index) => !mayPrecede(line, index));
  if (contentOf(lines[open] ?? '') !== '---') return undefined;
  const length = lines.slice(open + 1).findIndex((line) => contentOf(line) === undefined || contentOf(line) === '---');
  const block = lines.slice(open + 1, length === -1 ? lines.length : open + 1 + length);
  // The YAML may have comments of its own.
  const firstKey = block.map((line) => contentOf(line) ?? '').find((line) => !/^[ \t]*(?:#|$)/.test(line));
  if (firstKey === undefined || !FIRST_KEY.test(firstKey)) return undefined;
  const isClosed = length !== -1 && contentOf(lines[open + 1 + length] ?? '') === '---';
  const yaml = block.map((line) => line.replace(comment, (sign) => ' '.repeat(sign.length))).join('\n');
  return { yaml: isClosed ? yaml : null, firstLine: open + 2 };
}

/** No frontmatter of a script is longer. */
const MAX_LINES = 500;

/** True if a line may stand above the frontmatter: the interpreter's, one that switches echoing off, a blank one. */
const mayPrecede = (line: string, index: number): boolean =>
  line.trim() === '' || (index === 0 && /^\uFEFF?#!/.test(line)) || /^\uFEFF?\s*@echo off\s*$/i.test(line);

import type { StateAnalysis } from '../graph/state-analysis.ts';

const FENCE = /^---\s*$/;
const KEY =
  /^(?:allowed_transitions|model|effort|timeout|max_visits|permission_mode|allowed_tools|disallowed_tools|append_system_prompt)\s*:/;
/** No frontmatter has more lines than this. */
const MAX_LINES = 200;

/** A block that looks like frontmatter and is none. */
export interface StrayFrontmatter {
  readonly offset: number;
  /** Whether it has a policy, which then has no effect. */
  readonly hasPolicy: boolean;
  /** What is wrong with it: it is not opened by a `---` of its own, something stands above that, or it is in a script. */
  readonly why: 'unopened' | 'below' | 'script';
}

/** The one that has no first line, that stands below a comment, a heading or a blank line, or in a script. */
export function findStrayFrontmatter({ source, kind }: StateAnalysis): StrayFrontmatter | undefined {
  const { text } = source.state;
  const lines = text.split('\n', MAX_LINES);
  const isWhole = kind === 'prompt' && text.length === source.text.length;
  const unopened = isWhole ? unopenedIn(lines) : undefined;
  if (unopened !== undefined) return { offset: 0, hasPolicy: unopened.some(isPolicy), why: 'unopened' };
  const first = isWhole ? firstFence(lines) : firstLine(lines, kind);
  const length = lines.slice(first + 1).findIndex((line) => FENCE.test(line));
  if (length === -1 || !FENCE.test(lines[first] ?? '')) return undefined;
  const keys = lines.slice(first + 1, first + 1 + length).filter((line) => KEY.test(line));
  if (keys.length === 0) return undefined;
  const offset = lines.slice(0, first).join('\n').length + (first > 0 ? 1 : 0);
  return { offset, hasPolicy: keys.some(isPolicy), why: kind === 'script' ? 'script' : 'below' };
}

const isPolicy = (line: string): boolean => line.startsWith('allowed_transitions');

/** The lines of a block that begins with a key, or with a `---` behind blanks, if it ends as frontmatter does. */
function unopenedIn(lines: readonly string[]): readonly string[] | undefined {
  const first = /^\s+---\s*$/.test(lines[0] ?? '') ? 1 : 0;
  const end = lines.findIndex((line, at) => at > first && FENCE.test(line));
  const block = lines.slice(first, end);
  const isOne =
    /^\w/.test(block[0] ?? '') && block.some((line) => KEY.test(line)) && block.every((line) => YAML.test(line));
  return end !== -1 && isOne ? block : undefined;
}

/** A key with a value, an entry of a list, or a part of what stands above. */
const YAML = /^(?:[\w-]+:(?:\s|$)|\s|- |#|$)/;

/** What stands above it is not much, and no example is begun there. Right below a text, `---` makes a heading of it. */
const MAX_LINES_ABOVE = 12;

function firstFence(lines: readonly string[]): number {
  const isFence = (line: string, at: number): boolean =>
    FENCE.test(line) && /^(?:\s*|.*-->\s*)$/.test(lines[at - 1] ?? '');
  const first = lines.slice(0, MAX_LINES_ABOVE).findIndex(isFence);
  return lines.slice(0, Math.max(0, first)).some((line) => /^\s*(?:```|~~~)/.test(line)) ? 0 : Math.max(0, first);
}

/** The first line that says something. */
function firstLine(lines: readonly string[], kind: StateAnalysis['kind']): number {
  let isComment = false;
  const first = lines.findIndex((line) => {
    const begins = kind === 'script' ? /^\s*#/.test(line) : line.trimStart().startsWith('<!--');
    const skipped = isComment || begins || line.trim() === '';
    if (kind === 'prompt' && (isComment || begins)) isComment = !line.includes('-->');
    return !skipped;
  });
  return Math.max(0, first);
}

import type { StateAnalysis } from '../graph/state-analysis.ts';

/** A block that looks like frontmatter and is none. */
export interface StrayFrontmatter {
  readonly offset: number;
  /** No `---` of its own opens it, something stands above it, or it is in a script. */
  readonly why: 'unopened' | 'below' | 'script';
}

const KEY =
  /^(?:allowed_transitions|model|effort|timeout|max_visits|permission_mode|allowed_tools|disallowed_tools|append_system_prompt)\s*:/;
/** A key with a value, an entry of a list, a comment, or a continuation of what stands above. */
const YAML = /^(?:[\w-]+:(?:\s|$)|\s|- |#|$)/;
const FENCE = /^\s*---\s*$/;
/** Right below a text, `---` makes a heading of it. */
const MAY_PRECEDE = /^(?:\s*|#.*|.*-->\s*)$/;
/** No frontmatter has more lines than this, and no more stand above it. */
const MAX_LINES = 200;
const MAX_LINES_ABOVE = 12;

/** Finds frontmatter that is not on the first line, lacks its first line, or is in a script. */
export function findStrayFrontmatter({ source, kind }: StateAnalysis): StrayFrontmatter | undefined {
  const { text } = source.state;
  const hasFrontmatter = text.length < source.text.length;
  const lines = hasFrontmatter ? [] : text.split('\n', MAX_LINES);
  const open = lines.findIndex((line) => FENCE.test(line));
  const above = lines.slice(0, Math.max(0, open));
  const close = lines.findIndex((line, index) => index > open && FENCE.test(line));
  const isBelow =
    open < MAX_LINES_ABOVE && MAY_PRECEDE.test(above.at(-1) ?? '') && !above.some((line) => CODE.test(line));
  if (open !== -1 && close !== -1 && isBelow && isYaml(lines.slice(open + 1, close))) {
    const offset = above.join('\n').length + (open > 0 ? 1 : 0);
    return { offset, why: kind === 'script' ? 'script' : open === 0 ? 'unopened' : 'below' };
  }
  return kind === 'prompt' && isYaml(above) && /^\w/.test(text) ? { offset: 0, why: 'unopened' } : undefined;
}

const CODE = /^\s*(?:```|~~~)/;

const isYaml = (lines: readonly string[]): boolean =>
  lines.some((line) => KEY.test(line)) && lines.every((line) => YAML.test(line));

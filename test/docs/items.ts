import type { Page } from './pages.ts';

/** An item of a list that explains names: `` - `a`, `b` (remark): text ``. */
export interface Item {
  /** The pieces of code before the colon, with `x.{a,b}` written out as `x.a` and `x.b`. */
  readonly names: readonly string[];
  /** The words in parentheses after them. */
  readonly remark: string;
  /** The pieces of code in the remark. */
  readonly remarked: readonly string[];
}

/** Reads the lists of a section, up to the next heading of any level. */
export function itemsOf(page: Page, title: string): readonly Item[] {
  const text = page.text.replace(/^```.*?^```/gms, '');
  const [, after] = text.split(new RegExp(`^#+ ${title}$`, 'm'));
  if (after === undefined) throw new Error(`${page.path}: no section "${title}"`);
  const [section = ''] = after.split(/^#+ /m);
  return section.split(/^- /m).slice(1).flatMap(readItem);
}

function readItem(text: string): readonly Item[] {
  const found = /^((?:`[^`]+`(?:,\s+)?)+)(?:\s+\(([^)]*)\))?(?::\s|$)/.exec(text.trim());
  if (found === null) return [];
  const [, names = '', remark = ''] = found;
  return [{ names: codeIn(names).flatMap(expand), remark, remarked: codeIn(remark) }];
}

const codeIn = (text: string): readonly string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

function expand(name: string): readonly string[] {
  const found = /^(.*?)\{([^}]*)\}(.*)$/.exec(name);
  if (found === null) return [name];
  const [, before = '', choices = '', after = ''] = found;
  return choices.split(',').flatMap((choice) => expand(`${before}${choice.trim()}${after}`));
}

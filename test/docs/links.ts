import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { type Page, PROJECT } from './pages.ts';

/** A link within the project: as written, its target file, and its target heading, if it has one. */
interface Link {
  readonly written: string;
  readonly path: string;
  readonly anchor: string | undefined;
}

/** The links of a page to a file or a heading that does not exist. */
export const brokenLinks = (page: Page, pages: readonly Page[]): readonly string[] =>
  linksOf(page)
    .filter((link) => !hasTarget(link, pages))
    .map(({ written }) => written);

/** All links of a page that stay within the project. */
export function linksOf({ path, text }: Page): readonly Link[] {
  const all = [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, written = '']) => written);
  return all
    .filter((written) => !/^[a-z]+:/.test(written))
    .map((written) => {
      const [file = '', anchor] = written.split('#');
      return { written, path: file === '' ? path : normalize(join(dirname(path), file)), anchor };
    });
}

function hasTarget({ path, anchor }: Link, pages: readonly Page[]): boolean {
  const target = pages.find((page) => page.path === path);
  return existsSync(join(PROJECT, path)) && (anchor === undefined || !target || anchorsOf(target).includes(anchor));
}

/** The anchors that GitHub gives to headings; repeated ones are numbered. */
function anchorsOf({ sections }: Page): readonly string[] {
  const seen = new Map<string, number>();
  return sections.map(({ title }) => {
    const name = title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    const before = seen.get(name) ?? 0;
    seen.set(name, before + 1);
    return before === 0 ? name : `${name}-${before}`;
  });
}

const withoutCode = (text: string): string => text.replace(/^```.*?^```/gms, '').replace(/`[^`\n]*`/g, '');

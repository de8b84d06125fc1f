import { readFileSync } from 'node:fs';
import { resolvePackageFile } from '../package-files.ts';

/** The files of the page by path; undefined for a path that is none of them. */
export type PageFiles = (path: string) => Response | undefined;

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** The names of the files are fixed, so that no path leads anywhere else. */
const FILES: ReadonlyMap<string, string> = new Map([
  ['/', 'index.html'],
  ['/app.js', 'app.js'],
  ['/app.css', 'app.css'],
  ['/icon.svg', 'icon.svg'],
]);

/** The page as the build made it. Addresses of views (`/runs/…`) are the page, too: it reads them itself. */
export const readPageFile: PageFiles = (path) => {
  const file = FILES.get(path) ?? (/^\/(runs|workflows|questions|costs)(\/|$)/.test(path) ? 'index.html' : undefined);
  if (file === undefined) return undefined;
  const body = readFileSync(resolvePackageFile(`dist/page/${file}`));
  const type = TYPES[file.slice(file.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
  return new Response(body, { headers: { 'content-type': type, 'cache-control': 'no-cache' } });
};

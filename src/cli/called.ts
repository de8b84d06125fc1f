import { existsSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { shipped } from '../shipped.ts';
import { quoted } from './quoted.ts';
import type { Terminal } from './terminal.ts';

const MAIN = shipped('dist/raymond.js');
const NAMES = process.platform === 'win32' ? ['raymond.cmd', 'raymond.exe'] : ['raymond'];

/** How Raymond is called from a folder: by its name if that is on the PATH, else by its file. */
export function calledFrom(folder: string, { env }: Pick<Terminal, 'env'>): string {
  const places = (env.PATH ?? env.Path ?? '').split(delimiter).filter((place) => place !== '');
  if (places.some((place) => NAMES.some((name) => existsSync(join(place, name))))) return 'raymond';
  const near = relative(folder, MAIN);
  return `node ${quoted(near.length < MAIN.length ? near : MAIN)}`;
}

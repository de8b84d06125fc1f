import { constants } from 'node:fs';
import { access, open, readdir, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { isStateFile, stem } from '../core/names.ts';
import { nearest } from '../core/nearest.ts';
import { codeOf, EXIT, RaymondError } from '../errors.ts';
import { reasonOf } from './source.ts';

/** What a path turned out to be. */
export type Located =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'zip'; readonly path: string }
  | { readonly kind: 'state'; readonly path: string; readonly folder: string; readonly file: string };

const HINT = 'Give a folder, a .zip, or a state file (.md, .sh, .bat, .ps1).';

/** Looks at what the user named as a workflow. */
export async function locate(given: string): Promise<Located> {
  if (given === '') throw wrongPath('the path of the workflow is empty');
  const path = resolve(given);
  const found = await stat(path).catch(async (error: unknown) => {
    const missing = ['ENOENT', 'ENOTDIR'].includes(codeOf(error));
    if (!missing) throw wrongPath(`${given} cannot be read: ${reasonOf(error)}`);
    const meant = await sibling(path);
    throw wrongPath(`there is no ${given}`, meant === undefined ? HINT : `Did you mean ${meant}?`);
  });
  await access(path, found.isDirectory() ? constants.R_OK | constants.X_OK : constants.R_OK).catch((error: unknown) => {
    throw wrongPath(`${given} cannot be read: ${reasonOf(error)}`);
  });
  const file = basename(path);
  if (found.isDirectory()) return { kind: 'folder', path };
  if (!found.isFile()) throw wrongPath(`${given} is neither a file nor a folder`);
  if (/\.zip$/i.test(file)) return { kind: 'zip', path };
  if (isStateFile(file)) return { kind: 'state', path, folder: dirname(path), file };
  if (await beginsLikeZip(path)) return { kind: 'zip', path };
  throw wrongPath(`${given} is not a workflow`);
}

/** Something about the path itself that the user has to put right. */
export function wrongPath(message: string, hint = HINT): RaymondError {
  return new RaymondError(message, { exitCode: EXIT.usage, hint });
}

/** What stands beside a missing path and is probably meant: the same name with its ending, or one much like it. */
async function sibling(path: string): Promise<string | undefined> {
  const [name, folder] = [basename(path), dirname(path)];
  const names = await readdir(folder).catch(() => []);
  const visible = names.filter((each) => !each.startsWith('.'));
  return visible.find((each) => stem(each) === name || each === `${name}.zip`) ?? nearest(name, visible);
}

async function beginsLikeZip(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return ['PK\x03\x04', 'PK\x05\x06'].includes(buffer.toString('latin1'));
  } finally {
    await file.close();
  }
}

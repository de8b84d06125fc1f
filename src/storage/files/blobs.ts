import { readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makePrivateFolder, replaceFile } from '../../disk/files.ts';
import type { FolderLayout } from '../../disk/layout.ts';
import { errorCodeOf } from '../../errors.ts';
import type { Blobs, Writer } from '../storage.ts';
import { ownerOf } from './owner.ts';

/** The blobs of a folder: each is a file in the folder of its run, or in `workflows`. */
export function createFileBlobs(layout: FolderLayout, durable = true): Blobs {
  const fileOf = (key: string): string => {
    const [kind, id = '', ...rest] = key.split('/');
    const isPlain = [id, ...rest].every((part) => part !== '' && part !== '.' && part !== '..' && !part.includes('\\'));
    if (isPlain && kind === 'workflow' && rest.length === 0) return join(layout.root, 'workflows', id);
    if (isPlain && kind === 'run' && rest.length > 1) return join(layout.runFolder(id), ...rest);
    throw new Error(`${key} is not the key of a blob`);
  };
  return {
    isShared: false,
    async put(key, bytes, by) {
      const file = fileOf(key);
      if (!(await mayWrite(layout, key, by))) return false;
      await makePrivateFolder(dirname(file), durable);
      await replaceFile(file, bytes, { durable });
      return true;
    },
    async get(key) {
      try {
        return { bytes: await readFile(fileOf(key)), node: null };
      } catch (error) {
        if (errorCodeOf(error) === 'ENOENT') return null;
        throw error;
      }
    },
    // One that cannot be removed goes with its run.
    remove: (prefix) => rm(dirname(fileOf(`${prefix}x`)), { recursive: true, force: true }).catch(() => {}),
  };
}

/** True for a person, and for the process that owns the run; nobody else takes turns of a run in files. */
async function mayWrite(layout: FolderLayout, key: string, { epoch, turn }: Writer): Promise<boolean> {
  if (epoch === null) return turn === null;
  return (await ownerOf(layout.runFolder(key.split('/')[1] ?? '')))?.number === epoch;
}

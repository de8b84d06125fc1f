import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { type FileHandle, link, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCodeOf } from '../errors.ts';
import { diskError } from './disk-error.ts';

/** All that Raymond keeps is for its user's eyes only: prompts and answers may hold anything. */
export const PRIVATE_FOLDER_MODE = 0o700;
export const PRIVATE_FILE_MODE = 0o600;

/*
 * What is not `durable` need not survive the end of this process, such as a rehearsal. It is never synced, and every
 * call is made at once: the way to the thread pool and back would take longer, and nobody else looks in between.
 */

/** Makes a folder and those above it, so that they outlast a power cut. One that is there is left as it is. */
export async function makePrivateFolder(folder: string, durable = true): Promise<void> {
  try {
    if (!durable) return void mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER_MODE });
    const first = await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER_MODE }).catch((cause) =>
      explainMkdir(folder, cause),
    );
    if (first === undefined) return;
    for (let created = folder; created.length >= first.length; created = dirname(created))
      await syncFolder(dirname(created));
  } catch (cause) {
    throw diskError(`The folder ${folder} cannot be made`, cause, 'then try again.');
  }
}

/** With `recursive`, Node takes whatever it does not know, such as a read-only disk, for ENOENT: only a plain try tells. */
async function explainMkdir(folder: string, cause: unknown): Promise<never> {
  if (errorCodeOf(cause) !== 'ENOENT') throw cause;
  let missing = folder;
  while (dirname(missing) !== missing && !existsSync(dirname(missing))) missing = dirname(missing);
  await mkdir(missing, { mode: PRIVATE_FOLDER_MODE });
  throw cause;
}

/** Replaces a file as a whole: whoever reads it, and whatever happens, finds the old text or the new one. */
export async function replaceFile(file: string, text: string, durable = true): Promise<void> {
  if (!durable) return writeFileSync(file, text, { mode: PRIVATE_FILE_MODE, encoding: 'utf8' });
  const temporary = join(dirname(file), `.${basename(file)}.tmp`);
  try {
    await writeAndSync(temporary, text);
    await rename(temporary, file);
    await syncFolder(dirname(file));
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
}

/** Makes a file that is whole from the first moment. False if there is one already, which is then left alone. */
export async function createFile(file: string, text: string, durable = true): Promise<boolean> {
  if (!durable) return createFileSync(file, text);
  const temporary = join(dirname(file), `.${basename(file)}.${process.pid}-${randomBytes(4).toString('hex')}`);
  try {
    await writeAndSync(temporary, text);
    await link(temporary, file).catch(explainLink);
  } catch (error) {
    if (errorCodeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary, { force: true }).catch(() => {});
  }
  await syncFolder(dirname(file));
  return true;
}

function createFileSync(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { mode: PRIVATE_FILE_MODE, encoding: 'utf8', flag: 'wx' });
    return true;
  } catch (error) {
    if (errorCodeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** We may write in that folder, so what is not permitted about a hard link is the link itself: say so. */
function explainLink(cause: unknown): never {
  if (!['EPERM', 'ENOSYS', 'EOPNOTSUPP'].includes(errorCodeOf(cause))) throw cause;
  throw Object.assign(new Error('no hard links', { cause }), { code: 'ENOTSUP' });
}

/** Makes the names in a folder outlast a power cut. Where a folder cannot be synced, there is no better to be had. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  await withFile(folder, 'r', (handle) =>
    handle.sync().catch((error: unknown) => {
      if (!['EINVAL', 'ENOTSUP'].includes(errorCodeOf(error))) throw error;
    }),
  );
}

/** Writes a file and waits until the disk has it. */
async function writeAndSync(file: string, content: string | Uint8Array): Promise<void> {
  await withFile(file, 'w', async (handle) => {
    await handle.writeFile(content);
    await handle.datasync();
  });
}

/** Opens a file, private if it is new, and closes it whatever happens. */
export async function withFile<T>(file: string, flags: string, use: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(file, flags, PRIVATE_FILE_MODE);
  try {
    return await use(handle);
  } finally {
    await handle.close();
  }
}

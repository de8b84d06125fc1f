import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { copyFile, type FileHandle, link, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCodeOf } from '../errors.ts';
import { diskError, NO_FOLDERS } from './disk-error.ts';

/** The mode of all folders that Raymond makes: prompts and answers may hold secrets, so only the user may read them. */
export const PRIVATE_FOLDER_MODE = 0o700;
/** The mode of all files that Raymond makes. */
export const PRIVATE_FILE_MODE = 0o600;

/*
 * What is not `durable` need not survive the end of this process, such as the files of a test. It is never synced, and every
 * call is synchronous: the way through the thread pool would take longer, and no other process looks at these files.
 */

/** Makes a folder and its parents so that they survive a power cut. An existing folder is left as it is. */
export async function makePrivateFolder(folder: string, durable = true): Promise<void> {
  try {
    // Mostly it exists, and to look takes less time than an error.
    if (isFolder(folder)) return;
    const first = makeFolders(folder);
    if (first === undefined || !durable) return;
    for (let created = folder; created.length >= first.length; created = dirname(created))
      await syncFolder(dirname(created));
  } catch (cause) {
    throw diskError(`The folder ${folder} cannot be made`, cause, 'then try again.');
  }
}

/**
 * Makes a folder and those above it that are missing; returns the topmost that was made. The `recursive` of Node tries
 * forever where the system makes no folders, such as in /proc, and has its own words for other errors.
 */
function makeFolders(folder: string): string | undefined {
  const parent = dirname(folder);
  const first = existsSync(parent) || parent === folder ? undefined : makeFolders(parent);
  try {
    mkdirSync(folder, { mode: PRIVATE_FOLDER_MODE });
    return first ?? folder;
  } catch (cause) {
    const code = errorCodeOf(cause);
    if (code === 'EEXIST' && isFolder(folder)) return first;
    if (code === 'ENOENT' && existsSync(parent)) throw Object.assign(new Error('no folders'), { code: NO_FOLDERS });
    throw cause;
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** The stats of a path; undefined if it does not exist or may not be read. */
export function statIfAllowed(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The most bytes that a text can have in memory. */
const MAX_TEXT_BYTES = 0x1fff_ffe8;

/** Refuses what is no regular file: to open a named pipe would wait for a writer, and a device may never end. */
export function requireRegularFile(file: string): void {
  const stats = statSync(file);
  if (!stats.isFile()) throw Object.assign(new Error('it is not a regular file'), { code: 'NO_FILE' });
}

/** Reads a text of which it is not certain that Raymond wrote it. */
export function readRegularFile(file: string): string {
  requireRegularFile(file);
  const { size } = statSync(file);
  if (size > MAX_TEXT_BYTES) throw Object.assign(new Error(`it has ${size} bytes`), { code: 'TOO_LARGE' });
  return readFileSync(file, 'utf8');
}

/** How a file is replaced. */
export interface ReplaceOptions {
  readonly durable?: boolean | undefined;
  /** Part of the temporary file's name, where several processes may replace the same file. */
  readonly writer?: number;
  /** Asked right before the file is replaced; if it says no, the file stays as it is. */
  readonly mayReplace?: () => boolean;
}

/** Replaces a file atomically: a reader finds the old text or the new one, also after a power cut. */
export async function replaceFile(
  file: string,
  text: string | Uint8Array,
  options: ReplaceOptions = {},
): Promise<void> {
  const { durable = true, writer, mayReplace = () => true } = options;
  if (!durable) {
    if (mayReplace()) writeFileSync(file, text, { mode: PRIVATE_FILE_MODE, encoding: 'utf8' });
    return;
  }
  const temporary = temporaryFile(file, writer);
  try {
    await writeAndSync(temporary, text);
    // Synchronous, so that nothing comes between the question and the act.
    if (mayReplace()) renameSync(temporary, file);
    else return await rm(temporary, { force: true });
    await syncFolder(dirname(file));
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    throw error;
  }
}

/** Replaces a file at once; after a power cut it may be damaged, so it is for what has a checksum and can be made anew. */
export function replaceUnsynced(file: string, text: string): void {
  const temporary = temporaryFile(file);
  writeFileSync(temporary, text, { mode: PRIVATE_FILE_MODE });
  renameSync(temporary, file);
}

/** The file that a writer replaces another one with. One that was killed leaves it behind. */
export const temporaryFile = (file: string, writer?: number): string =>
  join(dirname(file), `.${basename(file)}.${writer === undefined ? '' : `${writer}.`}tmp`);

/** Makes a file that is complete from the first moment. False if the file exists; it is then left alone. */
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

/** Writing the temporary file worked, so an error of `link` means that the file system has no hard links. */
function explainLink(cause: unknown): never {
  if (!['EPERM', 'ENOSYS', 'EOPNOTSUPP'].includes(errorCodeOf(cause))) throw cause;
  throw Object.assign(new Error('no hard links', { cause }), { code: 'ENOTSUP' });
}

/** Puts an equal file in the place of a file: what another process still has open is then no file of ours any more. */
export async function detachFile(file: string): Promise<void> {
  const temporary = temporaryFile(file, process.pid);
  try {
    await copyFile(file, temporary);
    await withFile(temporary, 'r+', (handle) => handle.datasync());
    await rename(temporary, file);
    await syncFolder(dirname(file));
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    if (errorCodeOf(error) !== 'ENOENT') throw error;
  }
}

/** Makes the names in a folder survive a power cut, on file systems that can sync a folder. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  await withFile(folder, 'r', (handle) =>
    handle.sync().catch((error: unknown) => {
      if (!['EINVAL', 'ENOTSUP'].includes(errorCodeOf(error))) throw error;
    }),
  );
}

/** Writes a file and waits until it is on the disk. */
async function writeAndSync(file: string, content: string | Uint8Array | Uint8Array): Promise<void> {
  await withFile(file, 'w', async (handle) => {
    await handle.writeFile(content);
    await handle.datasync();
  });
}

/** Opens a file, private if it is new, and closes it after `use` in any case. */
export async function withFile<T>(file: string, flags: string, use: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(file, flags, PRIVATE_FILE_MODE);
  try {
    return await use(handle);
  } finally {
    await handle.close();
  }
}

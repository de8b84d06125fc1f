import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { copyFile, type FileHandle, link, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { EXIT, errorCodeOf, errorMessageOf, RaymondError } from '../errors.ts';

/** The mode of all folders that Raymond makes: prompts and answers may hold secrets, so only the user may read them. */
export const PRIVATE_FOLDER_MODE = 0o700;
/** The mode of all files that Raymond makes. */
export const PRIVATE_FILE_MODE = 0o600;

/*
 * Files that are not `durable` need not survive the end of this process, such as those of a test. They are never synced, and every
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
interface ReplaceOptions {
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

/** The code of a refusal for which the system has none: the place is there, but takes no new folders. */
const NO_FOLDERS = 'NO_FOLDERS';

const DISK_ERRORS: Readonly<Record<string, readonly [reason: string, cure: string]>> = {
  ENOSPC: ['no space is left on the disk', 'Free some space'],
  EDQUOT: ['your disk quota is used up', 'Free some space'],
  EFBIG: ['files may not become that large', 'Raise the limit with `ulimit -f`'],
  ENOENT: ['the folder it belongs in is gone', 'Put the folder back'],
  EROFS: ['the file system is read-only', 'Make it writable, or work in another folder'],
  EACCES: ['permission was denied', 'Give yourself the right to write there, or work in another folder'],
  EPERM: ['permission was denied', 'Give yourself the right to write there, or work in another folder'],
  EEXIST: ['there is a file where a folder should be', 'Move the file away'],
  ENOTDIR: ['there is a file where a folder should be', 'Move the file away'],
  [NO_FOLDERS]: ['the system makes no folders there', 'Work in another folder'],
  EIO: ['the disk reported an error', 'Check the disk'],
  ENOTSUP: ['the file system has no hard links', 'Work on another file system'],
  EMFILE: ['too many files are open', 'Raise the limit with `ulimit -n`'],
  ENFILE: ['too many files are open', 'Raise the limit with `ulimit -n`'],
};

/** Explains what the file system refused. `next` says what is kept and how to continue once the cause is removed. */
export function diskError(what: string, cause: unknown, next: string, exitCode: number = EXIT.usage): RaymondError {
  const message = errorMessageOf(cause);
  const [reason, cure] = DISK_ERRORS[errorCodeOf(cause)] ?? [message, 'Fix this'];
  return new RaymondError(`${what}: ${reason}.`, { exitCode, hint: `${cure}, ${next}`, cause });
}

/** The uid that this process makes files with; null on systems without owners. */
export const currentUid = (): number | null => process.geteuid?.() ?? null;

/** The uid of another user who owns this file or folder; null if it is ours, does not exist or may not be looked at. */
export function findForeignOwner(path: string): number | null {
  const uid = currentUid();
  if (uid === null) return null;
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats === undefined || stats.uid === uid ? null : stats.uid;
  } catch {
    return null;
  }
}

/** Names a user for a message; one that the system does not list is `user 1000`. */
export function describeUser(uid: number): string {
  try {
    const line = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((entry) => entry.split(':')[2] === String(uid));
    const name = line?.split(':')[0];
    if (name) return name;
  } catch {}
  return uid === 0 ? 'root' : `user ${uid}`;
}

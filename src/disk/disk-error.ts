import { EXIT, errorCodeOf, errorMessageOf, RaymondError } from '../errors.ts';

/** The code of a refusal for which the system has none: the place is there, but takes no new folders. */
export const NO_FOLDERS = 'NO_FOLDERS';

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

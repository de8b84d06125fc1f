import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from '../../config/config.ts';
import {
  addTrustedFile,
  addTrustedFolder,
  EMPTY_TRUST_LIST,
  parseTrustList,
  removeTrusted,
  serializeTrustList,
  type TrustList,
} from '../../config/trust-list.ts';
import { findUserConfigFolder } from '../../config/user-folder.ts';
import { describeUser, diskError, findForeignOwner, makePrivateFolder, replaceFile } from '../../disk/files.ts';
import { EXIT, errorCodeOf, RaymondError } from '../../errors.ts';

/** The file with everything that the user has trusted; null if the environment names no home. */
function findTrustFile(env: NodeJS.ProcessEnv): string | null {
  const folder = findUserConfigFolder(env);
  return folder === null ? null : join(folder, 'trusted.json');
}

/** Reads what the user has trusted. */
export function readTrustList(env: NodeJS.ProcessEnv): TrustList {
  const file = findTrustFile(env);
  if (file === null || !existsSync(file)) return EMPTY_TRUST_LIST;
  refuseForeignSettings(file);
  try {
    return parseTrustList(readFileSync(file, 'utf8'), file);
  } catch (cause) {
    if (errorCodeOf(cause) === '') throw cause;
    throw diskError(`${file} cannot be read`, cause, 'then try again.');
  }
}

/**
 * Refuses a settings file of the user that belongs to somebody else. One of root is accepted: root may do anything here
 * in any case, and some systems install settings this way.
 */
export function refuseForeignSettings(file: string): void {
  const owner = findForeignOwner(file);
  if (owner === null || owner === 0) return;
  throw new RaymondError(`${file} belongs to ${describeUser(owner)}, so it cannot be your own settings.`, {
    exitCode: EXIT.usage,
    hint: 'If you used sudo, try without it. Else set HOME or XDG_CONFIG_HOME to a folder of your own.',
  });
}

/** A path as the trust list has it: without links, so that a link cannot pass for another file. */
export function normalizeTrustedPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Remembers that the user trusts this text of a config file. */
export const trustConfig = (config: Config, env: NodeJS.ProcessEnv, atMs: number): Promise<void> =>
  changeTrustList(env, (list) => addTrustedFile(list, config, normalizeTrustedPath(config.file), toStamp(atMs)));

/** Remembers that the user wants to work in these folders, although they belong to others. */
export const trustFolders = (
  folders: readonly { readonly path: string; readonly owner: number }[],
  env: NodeJS.ProcessEnv,
  atMs: number,
): Promise<void> =>
  changeTrustList(env, (list) =>
    folders.reduce((all, { path, owner }) => addTrustedFolder(all, { path, owner, trustedAt: toStamp(atMs) }), list),
  );

/** Forgets that these paths were trusted. */
export const revokeTrust = (paths: readonly string[], env: NodeJS.ProcessEnv): Promise<void> =>
  changeTrustList(env, (list) => removeTrusted(list, paths));

const toStamp = (atMs: number): string => new Date(atMs).toISOString();

async function changeTrustList(env: NodeJS.ProcessEnv, change: (list: TrustList) => TrustList): Promise<void> {
  const file = findTrustFile(env);
  if (file === null) {
    throw new RaymondError('There is no place to remember what you trust: HOME is not set.', {
      exitCode: EXIT.usage,
      hint: 'Set HOME or XDG_CONFIG_HOME, then try again.',
    });
  }
  const list = change(readTrustList(env));
  await makePrivateFolder(dirname(file));
  await replaceFile(file, serializeTrustList(list)).catch((cause: unknown) => {
    throw diskError(`${file} cannot be written`, cause, 'then try again.');
  });
}

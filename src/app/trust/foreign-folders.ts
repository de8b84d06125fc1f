import { basename } from 'node:path';
import { currentUid, describeUser, findForeignOwner } from '../../disk/files.ts';
import { findRaymondFolder } from '../../disk/layout.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import { normalizeTrustedPath, readTrustList } from './trust-store.ts';

/** A folder that belongs to another user. */
export interface ForeignFolder {
  readonly path: string;
  readonly owner: number;
}

/** Finds those of these folders that belong to other users, and that this user has not trusted. */
export function findForeignFolders(paths: readonly string[], env: NodeJS.ProcessEnv): readonly ForeignFolder[] {
  const foreign = [...new Set(paths)].flatMap((path): readonly ForeignFolder[] => {
    const owner = findForeignOwner(path);
    return owner === null ? [] : [{ path: normalizeTrustedPath(path), owner }];
  });
  if (foreign.length === 0) return [];
  const { folders } = readTrustList(env);
  return foreign.filter(({ path, owner }) => !folders.some((each) => each.path === path && each.owner === owner));
}

/** Refuses folders of other users, who could change at any time what runs there. Root is a user like any other. */
export function refuseForeignFolders(paths: readonly string[], env: NodeJS.ProcessEnv): void {
  const [first] = findForeignFolders(paths, env);
  if (first === undefined) return;
  const { path, owner } = first;
  throw new RaymondError(`${path} belongs to ${describeUser(owner)}, and you are ${describeUser(currentUid() ?? 0)}.`, {
    exitCode: EXIT.usage,
    hint: hintFor(first, env),
  });
}

/** Says whose a folder is. */
export const describeForeignFolder = (path: string, owner: number): string =>
  `${path} belongs to ${describeUser(owner)}`;

/** Refuses the `.raymond` folder that applies in a working directory if it belongs to another user. */
export const refuseForeignRaymondFolder = (cwd: string, env: NodeJS.ProcessEnv): void =>
  refuseForeignFolders([findRaymondFolder(cwd)], env);

function hintFor({ path, owner }: ForeignFolder, env: NodeJS.ProcessEnv): string {
  const uid = currentUid();
  if (uid === 0 && env.SUDO_UID === String(owner))
    return 'You are root only through sudo, and the folder is your own: use raymond without sudo.';
  // Not for a working directory: it may be /tmp or another folder that must stay as it is.
  const change = basename(path) === '.raymond' ? `, or make this one yours: sudo chown -R ${uid} '${path}'` : '';
  return `Work in a folder of your own${change}. If you trust its owner with your account, run \`raymond trust\` there.`;
}

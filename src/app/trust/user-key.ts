import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findUserConfigFolder } from '../../config/user-folder.ts';
import { createFile, makePrivateFolder } from '../../disk/files.ts';
import { findForeignOwner } from '../../disk/folder-owner.ts';

/*
 * Anybody can put files into a project: a stranger whose repository is cloned, or an agent. What this user's Raymond has written itself carries
 * a signature, made with a key that is in the folder of the user's own settings.
 */

/** Signs a text as this user; null if there is no place for a key, such as without HOME. */
export async function signAsUser(text: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  const folder = findUserConfigFolder(env);
  if (folder === null) return null;
  let key = readKey(env);
  if (key === null) {
    try {
      await makePrivateFolder(folder);
      await createFile(join(folder, KEY_FILE), `${randomBytes(32).toString('hex')}\n`);
    } catch {
      // No room, no permission: then this user is asked later.
      return null;
    }
    key = readKey(env);
  }
  return key === null ? null : sign(key, text);
}

/** True if this user has signed a text, on this machine or with a copy of its settings. */
export function isSignedByUser(text: string, signature: string, env: NodeJS.ProcessEnv): boolean {
  const key = readKey(env);
  if (key === null) return false;
  const [expected, given] = [Buffer.from(sign(key, text)), Buffer.from(signature)];
  return expected.length === given.length && timingSafeEqual(expected, given);
}

const KEY_FILE = 'run-key';

const sign = (key: string, text: string): string => createHmac('sha256', key).update(text).digest('hex');

/** The key; null if there is none, or none of this user's own. */
function readKey(env: NodeJS.ProcessEnv): string | null {
  const folder = findUserConfigFolder(env);
  const file = folder === null ? null : join(folder, KEY_FILE);
  if (file === null || (findForeignOwner(file) ?? 0) !== 0) return null;
  try {
    const key = readFileSync(file, 'utf8').trim();
    return /^[0-9a-f]{64}$/.test(key) ? key : null;
  } catch {
    return null;
  }
}

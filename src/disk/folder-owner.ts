import { readFileSync, statSync } from 'node:fs';

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

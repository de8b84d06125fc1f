import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import { dirname, resolve, sep } from 'node:path';
import { isWithin } from '../../git-repository.ts';
import type { Mount } from '../../process/sandbox.ts';

/** What is at a path, without following a link; null for nothing. */
export function lookAt(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

/** True if a path is a file or folder that is no link: a link that a turn has made may lead anywhere. */
export const isPlain = (path: string): boolean => {
  const stats = lookAt(path);
  return stats !== null && (stats.isFile() || stats.isDirectory());
};

/** True if something else is there than outside. */
const isReplaced = (mount: Mount): boolean => 'from' in mount && mount.from !== mount.path;

/**
 * The mounts of one sandbox by path. Its invariant: what is mounted comes from a path that no turn can rename. Such a path is outside of what
 * turns can write to, or each folder on the way to it is a mount itself.
 */
export class MountTable {
  private readonly mounts = new Map<string, Mount>();

  /** Adds a mount; a later one at the same path replaces it. */
  add(mount: Mount): void {
    this.mounts.set(mount.path, mount);
  }

  /** Makes something read-only in a folder that is writable. */
  protect(path: string, within: string): void {
    if (!isPlain(path)) return;
    for (let folder = dirname(path); folder !== within && isWithin(folder, within); folder = dirname(folder))
      if (!this.mounts.has(folder)) this.add({ kind: 'write', path: folder });
    this.add({ kind: 'read', path });
  }

  /** Makes the spelling of a path work that goes through links in folders which are empty inside. */
  addLinks(path: string): void {
    const names = path.split(sep);
    for (let count = 2; count <= names.length; count++) {
      const part = names.slice(0, count).join(sep);
      if (lookAt(part)?.isSymbolicLink() !== true || !this.isEmptied(part)) continue;
      const to = resolve(dirname(part), readlinkSync(part));
      this.add({ kind: 'link', path: part, to });
      this.addLinks([to, ...names.slice(count)].join(sep));
      return;
    }
  }

  /** True if a path cannot be seen inside unless it is mounted. */
  isEmptied(path: string): boolean {
    const mount = this.nearest(path);
    return mount !== undefined && (mount.kind === 'empty' || isReplaced(mount));
  }

  /** True if a path can be written to inside, and lasts. */
  isWritable(path: string): boolean {
    const mount = this.nearest(path);
    return mount?.kind === 'write' && !isReplaced(mount);
  }

  all(): readonly Mount[] {
    return [...this.mounts.values()];
  }

  /** The mount that a path belongs to. */
  private nearest(path: string): Mount | undefined {
    for (let each = path; ; each = dirname(each)) {
      const mount = this.mounts.get(each);
      if (mount !== undefined || each === dirname(each)) return mount;
    }
  }
}

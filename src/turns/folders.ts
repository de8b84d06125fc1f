import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { findNamedFolders } from '../core/answer.ts';
import type { Policy } from '../core/policy.ts';

/** Resolves the folders that an answer names, relative to the agent's own; null for those that do not exist. */
export async function lookUpFolders(text: string, policy: Policy, cwd: string): Promise<Record<string, string | null>> {
  const found = findNamedFolders(text, policy).map(async (named) => {
    const path = resolve(cwd, named);
    if (named.trim() === '') return [named, null] as const;
    const isFolder = await stat(path).then(
      (stats) => stats.isDirectory(),
      () => false,
    );
    return [named, isFolder ? path : null] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}

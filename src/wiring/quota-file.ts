import { dirname } from 'node:path';
import { dropPassedWindows, mergeQuota, type Quota } from '../core/run/quota.ts';
import { makePrivateFolder, readRegularFile, replaceFile } from '../disk/files.ts';
import { tryParseJson } from '../language/text/json.ts';
import { QUOTA_WINDOWS_SCHEMA } from '../storage/quota-schema.ts';

/*
 * The file in which the runs of a user tell each other how full the windows of their accounts are. It is a convenience: where
 * it is damaged, missing or cannot be written, every run knows what its own turns were told.
 */

const VERSION = 1;

/** Reads what is known of an account at this time; without windows if nothing is. */
export const readQuotaFile = (file: string, account: string, now: number): Quota =>
  readAccounts(file, now).find((each) => each.account === account) ?? { account, windows: {} };

/** Adds what a run has learned to the file. What others write at the same moment may be lost until their next turn. */
export async function updateQuotaFile(file: string, quota: Quota, now: number): Promise<void> {
  const known = readAccounts(file, now);
  const own = known.find(({ account }) => account === quota.account) ?? null;
  const merged = dropPassedWindows(mergeQuota(own, quota, now), now);
  if (merged === own) return;
  const kept = [merged, ...known.filter((each) => each !== own)].filter(
    ({ windows }) => Object.keys(windows).length > 0,
  );
  const accounts = Object.fromEntries(kept.map(({ account, windows }) => [account, windows]));
  try {
    await makePrivateFolder(dirname(file));
    await replaceFile(file, `${JSON.stringify({ version: VERSION, accounts }, null, 2)}\n`, { writer: process.pid });
  } catch {
    // No room, no permission: then others do not learn of it.
  }
}

/** The accounts with windows that are not empty again; a part that is damaged is left out. */
function readAccounts(file: string, now: number): readonly Quota[] {
  const data = readJson(file);
  if (typeof data !== 'object' || data === null || !('accounts' in data)) return [];
  const { accounts } = data;
  if (typeof accounts !== 'object' || accounts === null) return [];
  return Object.entries(accounts).flatMap(([account, value]) => {
    const windows = QUOTA_WINDOWS_SCHEMA.safeParse(value).data;
    return windows === undefined ? [] : [dropPassedWindows({ account, windows }, now)];
  });
}

function readJson(file: string): unknown {
  try {
    return tryParseJson(readRegularFile(file));
  } catch {
    return undefined;
  }
}

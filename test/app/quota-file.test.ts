import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Quota } from '../../src/core/run/quota.ts';
import { readQuotaFile, updateQuotaFile } from '../../src/wiring/quota-file.ts';

const NOW = 1_794_930_000_000;
const HOUR_MS = 3_600_000;
let folder = '';
let file = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'raymond-quota-'));
  file = join(folder, 'raymond', 'quota.json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const quota = (account: string, percent: number, reportedAt = NOW): Quota => ({
  account,
  windows: { five_hour: { percent, status: 'allowed', resetsAtMs: NOW + HOUR_MS, reportedAt } },
});

describe('the file that runs share', () => {
  test('keeps the accounts apart, and of each the last word', async () => {
    await updateQuotaFile(file, quota('a', 10), NOW);
    await updateQuotaFile(file, quota('b', 20), NOW);
    await updateQuotaFile(file, quota('a', 30, NOW + 5), NOW + 5);
    await updateQuotaFile(file, quota('a', 15, NOW + 1), NOW + 5);
    expect(readQuotaFile(file, 'a', NOW + 5)).toStrictEqual(quota('a', 30, NOW + 5));
    expect(readQuotaFile(file, 'b', NOW + 5)).toStrictEqual(quota('b', 20));
    expect(readQuotaFile(file, 'c', NOW)).toStrictEqual({ account: 'c', windows: {} });
    expect(readdirSync(join(folder, 'raymond'))).toStrictEqual(['quota.json']);
  });

  test('forgets windows that are empty again', async () => {
    await updateQuotaFile(file, quota('a', 10), NOW);
    expect(readQuotaFile(file, 'a', NOW + HOUR_MS).windows).toStrictEqual({});
    const later = NOW + HOUR_MS;
    const other: Quota = {
      account: 'b',
      windows: { five_hour: { percent: 1, status: 'allowed', resetsAtMs: later + HOUR_MS, reportedAt: later } },
    };
    await updateQuotaFile(file, other, later);
    expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')).accounts)).toStrictEqual(['b']);
  });

  test('gives way to a newer word after the clock was set back', async () => {
    await updateQuotaFile(file, quota('a', 90, NOW + 600_000), NOW + 600_000);
    await updateQuotaFile(file, quota('a', 10), NOW);
    expect(readQuotaFile(file, 'a', NOW).windows.five_hour?.percent).toBe(10);
  });

  test.each(['', '{', 'null', '[]', '{"accounts":7}', '{"accounts":{"a":{"five_hour":{"percent":"x"}}}}'])(
    'is empty if it is damaged: %j',
    async (text) => {
      await updateQuotaFile(file, quota('a', 90), NOW);
      writeFileSync(file, text);
      expect(readQuotaFile(file, 'a', NOW).windows).toStrictEqual({});
      await updateQuotaFile(file, quota('a', 10), NOW);
      expect(readQuotaFile(file, 'a', NOW)).toStrictEqual(quota('a', 10));
    },
  );

  test('is done without where nothing can be written', async () => {
    writeFileSync(join(folder, 'raymond'), 'a file, where the folder would have to be');
    await updateQuotaFile(file, quota('a', 90), NOW);
    expect(readQuotaFile(file, 'a', NOW).windows).toStrictEqual({});
    chmodSync(folder, 0o500);
    await updateQuotaFile(join(folder, 'x', 'quota.json'), quota('a', 90), NOW);
    chmodSync(folder, 0o700);
    expect(existsSync(join(folder, 'raymond', 'quota.json'))).toBe(false);
  });
});

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findAccountKey, usesSubscription } from '../../../src/turns/claude/account.ts';

let home = '';

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'raymond-account-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const logIn = (folder: string, accountUuid: unknown): void =>
  writeFileSync(join(folder, '.claude.json'), JSON.stringify({ oauthAccount: { accountUuid } }));

test('an account has one short name, wherever its login is kept', async () => {
  logIn(home, 'account-1');
  const key = await findAccountKey({ HOME: home });
  expect(key).toMatch(/^[0-9a-f]{12}$/);
  const other = join(home, 'other');
  mkdirSync(other);
  logIn(other, 'account-1');
  expect(await findAccountKey({ HOME: home, CLAUDE_CONFIG_DIR: other })).toBe(key);
  logIn(other, 'account-2');
  expect(await findAccountKey({ HOME: home, CLAUDE_CONFIG_DIR: other })).not.toBe(key);
});

test('a token goes before a login, and is not in the name', async () => {
  logIn(home, 'account-1');
  const key = await findAccountKey({ HOME: home, CLAUDE_CODE_OAUTH_TOKEN: 'made-up' });
  expect(key).not.toBe(await findAccountKey({ HOME: home }));
  expect(key).not.toContain('made-up');
});

test('without a login, or with one that cannot be read, the settings folder stands for the account', async () => {
  const key = await findAccountKey({ HOME: home });
  logIn(home, 7);
  expect(await findAccountKey({ HOME: home })).toBe(key);
  writeFileSync(join(home, '.claude.json'), '{');
  expect(await findAccountKey({ HOME: home })).toBe(key);
  expect(await findAccountKey({ HOME: join(home, 'x') })).not.toBe(key);
});

test('an API key or another provider means that no subscription is used', () => {
  expect([{}, { ANTHROPIC_API_KEY: '' }, { CLAUDE_CODE_OAUTH_TOKEN: 't' }].map(usesSubscription)).toStrictEqual([
    true,
    true,
    true,
  ]);
  expect([{ ANTHROPIC_API_KEY: 'k' }, { CLAUDE_CODE_USE_BEDROCK: '1' }].map(usesSubscription)).toStrictEqual([
    false,
    false,
  ]);
});

import { mkdir, mkdtemp, realpath, rm, utimes, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  claudeConfigDir,
  findSessionFile,
  hasMessages,
  readSavedTotalUsd,
} from '../../../src/turns/claude/session-file.ts';

let root: string;
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'raymond-session-')));
});
afterAll(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));

let count = 0;
async function file(...lines: readonly (object | string)[]): Promise<string> {
  const path = join(root, `${++count}.jsonl`);
  await writeFile(path, lines.map((line) => (typeof line === 'string' ? line : `${JSON.stringify(line)}\n`)).join(''));
  return path;
}
const saved = (totalCostUSD: unknown) => ({ type: 'cost-state', sessionId: 'S', totalCostUSD });
const user = (content: string) => ({ type: 'user', message: { role: 'user', content } });

test.each<[string, readonly (object | string)[], number | null]>([
  ['the last one', [saved(0.1), user('x'), saved(0.25), { type: 'mode' }], 0.25],
  ['the only one, however much was said since', [saved(0.1), user('é'.repeat(300_000)), user('y'.repeat(70_000))], 0.1],
  ['zero', [saved(0)], 0],
  ['none, if there is none', [user('hi')], null],
  ['none, if somebody only talks about it', [user(JSON.stringify(saved(9))), '{"x":"cost-state"}\n'], null],
  ['the last that can be read', [saved(0.1), saved('much'), '{"type":"cost-state","totalCostUSD":7'], 0.1],
  ['none of an empty file', [], null],
])('the saved total of a conversation is %s', async (_, lines, total) => {
  expect(await readSavedTotalUsd(await file(...lines))).toBe(total);
});

test('an unknown conversation has saved nothing and cannot be resumed', async () => {
  expect(await readSavedTotalUsd(join(root, 'none.jsonl'))).toBe(null);
  expect(await hasMessages(join(root, 'none.jsonl'))).toBe(false);
});

test.each<[boolean, string, readonly (object | string)[]]>([
  [true, 'with a prompt', [{ type: 'queue-operation' }, user('hi'), { type: 'attachment' }]],
  [true, 'whose last line is torn', [user('hi'), '{"type":"assist']],
  [false, 'without any message', [{ type: 'queue-operation' }, saved(1)]],
  [false, 'of garbage', ['\u0000\u0001 user assistant\n']],
  [false, 'of nothing', []],
])('the answer whether a conversation can be resumed is %s for one %s', async (resumable, _, lines) => {
  expect(await hasMessages(await file(...lines))).toBe(resumable);
});

test('a conversation is found by its folder, or anywhere, the newest first', async () => {
  const projects = join(root, 'config', 'projects');
  const cwd = join(root, 'a b.c');
  await mkdir(cwd);
  const own = join(projects, cwd.replace(/[^a-zA-Z0-9]/g, '-'));
  const others = ['-one', '-two', '-three'].map((name) => join(projects, name));
  for (const folder of [own, ...others]) {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'elsewhere.jsonl'), '');
  }
  await utimes(join(own, 'elsewhere.jsonl'), 1, 1);
  await writeFile(join(own, 'here.jsonl'), '');
  await rm(join(own, 'elsewhere.jsonl'));
  await utimes(join(projects, '-one', 'elsewhere.jsonl'), 10, 10);
  await utimes(join(projects, '-two', 'elsewhere.jsonl'), 30, 30);
  await utimes(join(projects, '-three', 'elsewhere.jsonl'), 20, 20);
  const find = (id: string) => findSessionFile(join(root, 'config'), cwd, id);
  expect(await find('here')).toBe(join(own, 'here.jsonl'));
  expect(await find('elsewhere')).toBe(join(projects, '-two', 'elsewhere.jsonl'));
  expect(await find('nowhere')).toBe(null);
  expect(await findSessionFile(join(root, 'no-config'), cwd, 'here')).toBe(null);
});

test('the folder of Claude Code is the configured one, else in the home folder', () => {
  expect(claudeConfigDir({ CLAUDE_CONFIG_DIR: '/c', HOME: '/h' })).toBe('/c');
  expect(claudeConfigDir({ HOME: '/h' })).toBe('/h/.claude');
  expect(claudeConfigDir({ CLAUDE_CONFIG_DIR: '' })).toBe(join(homedir(), '.claude'));
});

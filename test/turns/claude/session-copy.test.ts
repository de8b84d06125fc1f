import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { TurnRef } from '../../../src/core/turns/due.ts';
import { formatClaudeVersion } from '../../../src/turns/claude/find-claude.ts';
import { bringSession, projectFolder, storeSession } from '../../../src/turns/claude/session-file.ts';
import type { ConversationCopies, ConversationFiles } from '../../../src/turns/turn-context.ts';
import { PINNED } from '../../claude-code/pinned.ts';
import { fork, fresh, resume, setUp } from './real-claude.ts';

const TURN: TurnRef = { agent: 'main', number: 1, state: 'START.md' };

/** Keeps what was stored, and gives it to everybody. */
class Copies implements ConversationCopies {
  readonly stored = new Map<string, ConversationFiles | null>();
  store = async (_turn: TurnRef, session: string, files: ConversationFiles | null): Promise<void> => {
    this.stored.set(session, files);
  };
  fetch = async (session: string): Promise<ConversationFiles | null> => this.stored.get(session) ?? null;
}

let root: string;
let copies: Copies;
const place = (name: string): { configDir: string; cwd: string } => {
  const [configDir, cwd] = [join(root, name, 'config'), join(root, name, 'work')];
  mkdirSync(cwd, { recursive: true });
  return { configDir, cwd };
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'raymond-copy-'));
  copies = new Copies();
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

test('a conversation gets to the folder of the working directory there, with what lies beside it', async () => {
  const [here, there] = [place('here'), place('there')];
  const session = fresh();
  const folder = await projectFolder(here.configDir, here.cwd);
  mkdirSync(join(folder, session.id, 'subagents'), { recursive: true });
  writeFileSync(join(folder, `${session.id}.jsonl`), 'said');
  writeFileSync(join(folder, session.id, 'subagents', 'one.jsonl'), 'inner');
  await storeSession(copies, here, TURN, session.id);
  await bringSession(copies, there, resume(session));
  const target = await projectFolder(there.configDir, there.cwd);
  expect(readFileSync(join(target, `${session.id}.jsonl`), 'utf8')).toBe('said');
  expect(readFileSync(join(target, session.id, 'subagents', 'one.jsonl'), 'utf8')).toBe('inner');
  expect(readdirSync(target).toSorted()).toStrictEqual([session.id, `${session.id}.jsonl`].toSorted());
});

test('what another machine said replaces what is here; a name that leads elsewhere is not followed', async () => {
  const there = place('there');
  const session = fresh();
  const target = await projectFolder(there.configDir, there.cwd);
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, `${session.id}.jsonl`), 'old');
  await copies.store(TURN, session.id, { [`${session.id}.jsonl`]: Buffer.from('new'), '../../out': Buffer.from('no') });
  await bringSession(copies, there, resume(session));
  expect(readFileSync(join(target, `${session.id}.jsonl`), 'utf8')).toBe('new');
  expect(readdirSync(there.configDir)).toStrictEqual(['projects']);
});

test('nothing happens for a new conversation, nor if there is no copy or none here', async () => {
  const there = place('there');
  await bringSession(copies, there, fresh());
  await bringSession(copies, there, resume(fresh()));
  await storeSession(copies, there, TURN, fresh().id);
  expect(readdirSync(join(root, 'there'))).toStrictEqual(['work']);
  expect(copies.stored.size).toBe(0);
});

for (const pinned of PINNED) {
  const name = `Claude Code ${formatClaudeVersion(pinned.version)}`;
  const title = pinned.isInstalled ? name : `${name} (skipped: node test/claude-code/install.mjs installs it)`;

  describe.skipIf(!pinned.isInstalled)(title, { timeout: 100_000 }, () => {
    test('continues with a conversation in another home and folder, and branches off there', async () => {
      const rig = await setUp(pinned);
      try {
        const session = fresh();
        await rig.runTurn({ session, prompt: 'the word is plum «say noted»' });
        await storeSession(copies, { configDir: join(rig.home, '.claude'), cwd: rig.cwd }, TURN, session.id);
        const there = { ...place('there'), configDir: join(root, 'there', '.claude') };
        const elsewhere = { cwd: there.cwd, env: { HOME: join(root, 'there') } };
        const branch = fork(session);
        await bringSession(copies, there, branch);
        await rig.runTurn({ ...elsewhere, session: branch, prompt: 'medlar «say 1»' });
        const { outcome } = await rig.runTurn({ ...elsewhere, session: resume(session), prompt: 'quince «say 2»' });
        expect(outcome).toMatchObject({ kind: 'answered', text: '2', cost: { kind: 'reported' } });
        for (const prompt of ['medlar «say 1»', 'quince «say 2»']) {
          const messages = JSON.stringify(rig.api.requests.find((request) => request.prompt === prompt)?.messages);
          expect(messages).toContain('the word is plum');
          expect(messages).toContain('noted');
        }
      } finally {
        await rig.close();
      }
    });
  });
}

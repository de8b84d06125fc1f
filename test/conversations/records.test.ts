import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  conversationRef,
  findOrphans,
  locatedRef,
  locateTurn,
  readTurnLocator,
  recordConversation,
  writeTurnLocator,
} from '../../src/conversations/records.ts';
import { newTurnContext } from '../turns/turn-context.ts';

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-records-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** The files exactly as earlier versions have written them. */
const EARLIER_LOCATORS = {
  own: '{"opener":3,"stdout":1024,"stderr":0,"uuid":"4f7c"}\n',
  early: '{"opener":2,"ahead":"main_work1","stdout":0,"stderr":7,"uuid":"4f7c"}\n',
};
const EARLIER_CONVERSATIONS = {
  '3-main': '{"session":"s1","agent":"main","number":3,"isAhead":false}',
  '2-main_work1.ahead': '{"session":"s2","agent":"main_work1","number":2,"isAhead":true}',
  '1-main': '{"session":"s3","agent":"main","number":1}',
};

test('a turn of an earlier version is found in its process, also in one that was started early', () => {
  const folder = newFolder();
  const context = newTurnContext(folder);
  const locate = (text: string) => {
    writeFileSync(join(folder, 'started'), text);
    const locator = readTurnLocator(folder);
    if (locator === null) throw new Error('the locator was not read');
    return { locator, ...locatedRef(context, 'main', locator) };
  };
  expect(locate(EARLIER_LOCATORS.own)).toStrictEqual({
    locator: { opener: 3, stdout: 1024, stderr: 0, uuid: '4f7c' },
    dir: join(folder, 'conversations', '3-main'),
    marker: `r/${folder}/main/3`,
  });
  expect(locate(EARLIER_LOCATORS.early)).toStrictEqual({
    locator: { opener: 2, ahead: 'main_work1', stdout: 0, stderr: 7, uuid: '4f7c' },
    dir: join(folder, 'conversations', '2-main_work1.ahead'),
    marker: `r/${folder}/main_work1/2/ahead`,
  });
});

test('processes that earlier versions have left are found by their sessions, unless they have exited', () => {
  const context = newTurnContext(newFolder());
  for (const [name, content] of Object.entries(EARLIER_CONVERSATIONS)) {
    mkdirSync(join(context.conversationsFolder, name), { recursive: true });
    writeFileSync(join(context.conversationsFolder, name, 'conversation.json'), content);
  }
  writeFileSync(join(context.conversationsFolder, '1-main', 'started'), '4711 99\n0\n');
  const found = findOrphans(context).map(({ session, opener, process }) => [session, opener, process.marker]);
  expect(new Map(found.map(([session, ...rest]) => [session, rest]))).toStrictEqual(
    new Map([
      ['s1', [{ agent: 'main', number: 3, isEarly: false }, `${context.runMarker}/main/3`]],
      ['s2', [{ agent: 'main_work1', number: 2, isEarly: true }, `${context.runMarker}/main_work1/2/ahead`]],
    ]),
  );
});

test('a locator is written once, and an earlier version can read it and the record of a conversation', () => {
  const folder = newFolder();
  const context = newTurnContext(folder);
  const opener = { agent: 'main_work1', number: 2, isEarly: true };
  const locator = locateTurn(opener, { stdout: 0, stderr: 7 }, '4f7c');
  writeTurnLocator(folder, locator);
  expect(`${JSON.stringify(locator)}\n`).toBe(EARLIER_LOCATORS.early);
  expect(() => writeTurnLocator(folder, locator)).toThrow('EEXIST');
  const { dir } = conversationRef(context, opener);
  recordConversation(dir, opener, null);
  expect(findOrphans(context)).toStrictEqual([]);
  recordConversation(dir, opener, 's2');
  expect(findOrphans(context).map(({ session }) => session)).toStrictEqual(['s2']);
});

import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { readRunEvents } from '../../src/app/run-files.ts';
import { layoutOf } from '../../src/disk/layout.ts';
import { createFileInbox } from '../../src/storage/files/inbox.ts';
import { createDatabaseInbox } from '../../src/storage/postgres/inbox.ts';
import type { InboxRequest } from '../../src/storage/requests.ts';
import { newCliProject } from '../cli/cli-project.ts';
import { appears, startOwner, waiting, writeWorkflow } from '../cli/owners.ts';
import { type Fleet, WAIT_FOR_OPEN } from '../cluster/fleet.ts';
import { useFleet } from '../cluster/use-fleet.ts';
import { storageIn } from './files/open-files.ts';

const MESSAGE: InboxRequest = { kind: 'message', id: 'm1', by: 'anna', at: 1, agent: 'main', text: 'hurry' };
const ANSWER: InboxRequest = { kind: 'answer', id: 'main-1', by: 'anna', at: 2, text: 'blue', files: [] };
const TIMEOUT_MS = 60_000;

vi.setConfig({ testTimeout: 120_000 });

describe('a request that is in the journal when its driver is killed, and not settled', () => {
  test('is settled by the next driver and handled once, in files', async () => {
    const { cwd, raymond } = newCliProject();
    writeWorkflow(cwd, 'wf', {
      'START.sh': `echo '<ask next="WAIT.sh">Which color?</ask>'`,
      'WAIT.sh': waiting('<goto>END</goto>'),
      'END.md': 'Color: {{result}}',
    });
    writeFileSync(join(cwd, 'answers.yaml'), 'answers: { END: <result>over</result> }');
    const layout = layoutOf(join(cwd, '.raymond'));
    const inbox = createFileInbox(layout);
    const owner = startOwner(cwd, 'wf', '--run-id', 'r1', '--agent', 'replay:answers.yaml', '--on-ask', 'wait');
    const kinds = async (): Promise<readonly string[]> =>
      existsSync(layout.journalFile('r1')) ? (await readRunEvents('r1', storageIn(cwd))).map(({ kind }) => kind) : [];
    await vi.waitUntil(async () => (await kinds()).includes('asked'), { timeout: TIMEOUT_MS });
    // The files that would replace those of the requests cannot be written.
    const obstacles = [ANSWER, MESSAGE].map(({ id }) => join(layout.inboxFolder('r1'), `.${id}.json.tmp`));
    for (const path of obstacles) mkdirSync(path, { recursive: true });
    expect(await inbox.put('r1', ANSWER)).toBe(true);
    await appears(cwd, 'here');
    expect(await inbox.put('r1', MESSAGE)).toBe(true);
    await vi.waitUntil(async () => (await kinds()).includes('said'), { timeout: TIMEOUT_MS });
    owner.signal('SIGKILL');
    await owner.exited;
    for (const { id } of [ANSWER, MESSAGE]) expect((await inbox.find('r1', id))?.outcome).toBe(null);
    for (const path of obstacles) rmSync(path, { recursive: true });
    writeFileSync(join(cwd, 'go'), '');
    expect(await raymond('resume', 'r1', '--quiet')).toMatchObject({ code: 0, out: 'over\n' });
    const counted = (await kinds()).filter((kind) => kind === 'said' || kind === 'ask_answered');
    expect(counted.sort()).toStrictEqual(['ask_answered', 'said']);
    for (const { id } of [ANSWER, MESSAGE])
      expect((await inbox.find('r1', id))?.outcome).toStrictEqual({ kind: 'accepted', turn: null });
  });

  describe('in PostgreSQL', () => {
    let fleet: Fleet;
    useFleet('all', (opened) => {
      fleet = opened;
    });

    test('is settled by the next driver and handled once', async () => {
      fleet.write({
        'wf/START.sh': `#!/bin/bash\necho '<ask next="WAIT.sh">Which color?</ask>'\n`,
        'wf/WAIT.sh': `#!/bin/bash\necho wait >> trace\n${WAIT_FOR_OPEN}\necho "<goto>END.md</goto>"\n`,
        'wf/END.md': 'Color: {{result}}\n',
        'answers.yaml': 'answers: { END: <result>over</result> }\n',
      });
      const { database } = fleet;
      const inbox = createDatabaseInbox(database);
      const worker = await fleet.worker('one');
      const following = fleet.run('run', 'wf', '--run-id', 'r1', '--agent', 'replay:answers.yaml', '--on-ask', 'wait');
      const count = async (kind: string): Promise<number> => {
        const lines = (await fleet.run('logs', 'r1', '--json')).out.trim().split('\n');
        return lines.filter((line) => line !== '' && JSON.parse(line).kind === kind).length;
      };
      await vi.waitUntil(async () => (await fleet.run('asks')).out.includes('Which color?'), { timeout: TIMEOUT_MS });
      await database.query(`create function raymond.refuse() returns trigger language plpgsql
        as $$ begin raise exception 'not now'; end $$`);
      await database.query(`create trigger refuse before update on raymond.requests
        for each row execute function raymond.refuse()`);
      expect(await inbox.put('r1', ANSWER)).toBe(true);
      await vi.waitUntil(() => existsSync(join(fleet.folder, 'trace')), { timeout: TIMEOUT_MS });
      expect(await inbox.put('r1', MESSAGE)).toBe(true);
      await vi.waitUntil(async () => (await count('said')) === 1, { timeout: TIMEOUT_MS });
      await worker.kill('SIGKILL');
      for (const { id } of [ANSWER, MESSAGE]) expect((await inbox.find('r1', id))?.outcome).toBe(null);
      await database.query('drop trigger refuse on raymond.requests');
      await fleet.worker('one');
      fleet.write({ open: '' });
      expect(await following).toMatchObject({ code: 0, out: 'over\n' });
      expect([await count('said'), await count('ask_answered')]).toStrictEqual([1, 1]);
      for (const { id } of [ANSWER, MESSAGE])
        expect((await inbox.find('r1', id))?.outcome).toStrictEqual({ kind: 'accepted', turn: null });
    });
  });
});

import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { FoundCosts } from '../../src/cluster/lost-costs.ts';
import { createConversationCopies } from '../../src/cluster/node-run.ts';
import { findPlacement } from '../../src/cluster/placements.ts';
import { unpackWorkflow } from '../../src/cluster/workflow-archive.ts';
import type { Database } from '../../src/storage/postgres/database.ts';
import { selectOutcomes, selectTurnRequests } from '../../src/storage/postgres/remote-turn-rows.ts';
import { selectTurnFiles } from '../../src/storage/postgres/turn-rows.ts';
import { fixedHistory } from '../storage/run-history.ts';
import { temporaryFolders } from '../storage/temp.ts';
import { useFleet } from './use-fleet.ts';

/*
 * A row may come from another version of Raymond, or from a database that was restored in parts. The error names the row and its value.
 */

const temporary = temporaryFolders();

let database: Database;

useFleet('each', async (fleet) => {
  database = fleet.database;
  await database.query(
    `insert into raymond.runs (id, status, seq, mark, snapshot, snapshot_seq, workflow, workflow_path)
     values ('r', 'running', 0, 'm', '', 0, 'h', 'w')`,
  );
});

const storeOutcome = (turn: string, outcome: string, withdrawn = false): Promise<unknown> =>
  database.query(
    `insert into raymond.remote_turns (run, agent, turn, node, is_new, outcome, withdrawn) values ('r', 'main', $1, 'two', true, $2, $3)`,
    [turn, outcome, withdrawn],
  );

const WHOLE = { signals: [], end: { kind: 'woke', at: 1, agent: 'main' } };

test.each([
  [
    '{"signals": [',
    /The outcome of r\/main\/1 in raymond.remote_turns of \S+ cannot be read: .+ It is: {"signals": \[/,
  ],
  ['{"signals":[],"end":{"kind":"wakes","at":1}}', /end\.kind.* It is: {"signals":\[\],"end":{"kind":"wakes","at":1}}/],
  ['{"signals":[{"kind":"failed","at":1,"agent":"main"}],"end":null}', /signals\[0\]\.failure/],
])('the outcome %s of a turn on another node is named, and the other outcomes count', async (broken, message) => {
  await storeOutcome('1', broken);
  await storeOutcome('2', JSON.stringify(WHOLE));
  const reports: string[] = [];
  const found = await selectOutcomes(database, ['r'], (report) => reports.push(report));
  expect(found).toStrictEqual([{ run: 'r', agent: 'main', turn: '2', outcome: WHOLE }]);
  expect(reports).toStrictEqual([expect.stringMatching(message)]);
});

test('an event for a turn on another node is named, and the other events are passed on', async () => {
  await database.query(
    `insert into raymond.remote_turns (run, agent, turn, node, is_new) values ('r', 'main', '1', 'two', true)`,
  );
  await database.query(
    `insert into raymond.turn_requests (run, agent, turn, id, event)
     values ('r', 'main', '1', 'a', '{"kind":"said","at":"noon"}'), ('r', 'main', '1', 'b', null)`,
  );
  const reports: string[] = [];
  const found = await selectTurnRequests(database, 'two', (report) => reports.push(report));
  expect(found).toStrictEqual([{ run: 'r', agent: 'main', turn: '1', id: 'b', command: null }]);
  expect(reports).toStrictEqual([expect.stringMatching(/The event a for r\/main\/1 in raymond.turn_requests .*noon/)]);
});

test('the cost of a lost turn is named in the log of the run', async () => {
  const unknown = [{ agent: 'main', turn: 1, state: 'START.md', evaluator: null, micros: 5, canned: false }];
  const { run } = fixedHistory(1);
  const over = new AbortController();
  await storeOutcome('1', '{"kind":"reported","micros":"many"}', true);
  const noticed = await new Promise((done) => {
    const costs = new FoundCosts(database, { ...run, id: 'r', ledger: { ...run.ledger, unknown } }, done, over.signal);
    costs.update({ ...run, id: 'r', ledger: { ...run.ledger, unknown } });
  });
  over.abort();
  expect(noticed).toMatchObject({
    kind: 'noticed',
    about: { agent: 'main', state: 'START.md' },
    message: expect.stringMatching(/The cost of r\/main\/1 in raymond.remote_turns cannot be read: .*micros.*many/),
  });
});

test('the commit of a placement is named', async () => {
  await database.query(
    `insert into raymond.placements (run, agent, home, published) values ('r', 'main', 'two', '{"base":1}')`,
  );
  await expect(findPlacement(database, 'r', 'main')).rejects.toThrow(
    /The commit of r\/main in raymond.placements of \S+ cannot be read: .*base.* It is: {"base":1}/,
  );
});

test('the files of a turn and of a conversation are named', async () => {
  await database.query(`insert into raymond.blobs (key, run, bytes) values ('run/r/turn/main/1', 'r', $1)`, [
    gzipSync('{"stdout":{"bytes":7}}'),
  ]);
  await expect(selectTurnFiles(database, 'r', { agent: 'main', number: 1 })).rejects.toThrow(
    /The files of r\/main\/1 in raymond.blobs of \S+ cannot be read: .*stdout\.bytes/,
  );
  await database.query(
    `insert into raymond.blobs (key, run, node, bytes) values ('run/r/conversation/s', 'r', 'two', $1)`,
    [gzipSync('[["a",-1]]\n')],
  );
  await expect(createConversationCopies(database, 'r', 'one', () => {}).fetch('s')).rejects.toThrow(
    /The conversation s of r in \S+ cannot be read: .*\[0\]\[1\].* It is: \[\["a",-1\]\]/,
  );
});

test('the archive of a workflow is named', async () => {
  const archive = gzipSync('{"format":1,"files":[{"path":"START.md"}]}');
  await expect(unpackWorkflow(temporary(), 'h', 'w', async () => archive)).rejects.toThrow(
    /The workflow h in raymond.blobs cannot be read: .*files\[0\]\.executable/,
  );
});

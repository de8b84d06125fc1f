import { describe, expect, test } from 'vitest';
import type { Ended, Fleet } from './fleet.ts';
import { useFleet } from './use-fleet.ts';

let fleet: Fleet;

useFleet('all', async (opened) => {
  fleet = opened;
  fleet.write(WORKFLOW);
  await fleet.worker('one');
});

/** Scripts, prompts with canned answers, a called state, a worker, and a question to a person. */
const WORKFLOW = {
  'w/START.md': 'Plan it.\n',
  'w/WORK.sh': '#!/bin/bash\necho "<fork next="ASK.md">HELP.sh</fork>"\necho trouble >&2\n',
  'w/HELP.sh': '#!/bin/bash\necho "<result>helped</result>"\n',
  'w/ASK.md': 'Ask.\n',
  'w/END.md': 'Told: {{result}}\n',
  'answers.yaml': `answers:
  START.md: "<goto>WORK.sh</goto>"
  ASK.md: "<ask next=\\"END.md\\">Which color?</ask>"
  END.md: "<result>It is {{result}}</result>"
`,
};

/** What may differ: which of two agents at work is told of first, times, paths, processes, ids of sessions, the folder of a worker, where the runs are, and open conversations, which only their machine knows. */
const normalize = (text: string): string =>
  text
    .replaceAll(fleet.database.name, 'FOLDER/.raymond')
    .replaceAll(fleet.folder, 'FOLDER')
    .replace(/FOLDER\/workers\/one|FOLDER/g, 'FOLDER')
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?/g, 'TIME')
    .replace(/\b\d?\d:\d\d(:\d\d)?\b/g, 'TIME')
    .replace(/\b[0-9a-f]{8}-[0-9a-f-]{27}\b/g, 'SESSION')
    .replace(/"home": ?("one"|null)/g, '"home": HOME')
    .replace(/"open_conversations": ?(0|null)/g, '"open_conversations": OPEN')
    .replace(/\b(process \d+|node one)/g, 'process N')
    .replace(/"(pid|worked_ms|duration_ms|turns_ms|at|started_at|session_id)": ?("[^"]*"|\d+)/g, '"$1": N')
    .replace(/\b\d+(\.\d+)?s\b/g, 'N s')
    .replace(/ +/g, ' ')
    .replace(/^ ?\[main\] /gm, ' ');

async function playThrough(database: readonly string[]): Promise<Readonly<Record<string, Ended>>> {
  const run = (...args: readonly string[]): Promise<Ended> => fleet.run(...args, ...database);
  const following = run('run', 'w', '--run-id', 'same', '--agent', 'replay:answers.yaml', '--on-ask', 'wait');
  const asks = async (): Promise<string> => (await run('asks')).out;
  await expect.poll(asks, { timeout: 20_000 }).toContain('Which color?');
  const asked = await runAll(run, { asks: ['asks'], 'asks --json': ['asks', '--json'], asking: ['status'] });
  const said = await run('say', 'last', 'Be brief');
  const firm = await run('interrupt', 'last', 'main', 'Now');
  const answered = await run('answer', 'last', 'blue');
  const again = await run('answer', 'last', 'green');
  const ended = await following;
  const read = await runAll(run, {
    list: ['list'],
    'list --json': ['list', '--json'],
    status: ['status', 'same'],
    'status --json': ['status', 'same', '--json'],
    logs: ['logs', 'same'],
    'logs --raw': ['logs', 'same', '--raw'],
    'logs --json': ['logs', 'same', '--json'],
    'logs --state': ['logs', 'same', '--state', 'WORK'],
    'no state': ['logs', 'same', '--state', 'WORKS'],
    stop: ['stop', 'same'],
    resume: ['resume', 'same'],
    'no run': ['status', 'sane'],
    costs: ['costs'],
    'costs --json': ['costs', '--json', '--by', 'state'],
    deaf: ['say', 'same', 'Too late'],
    record: ['test', '--record', 'same', '--output', '-'],
  });
  return { ...asked, said, firm, answered, again, ended, ...read };
}

async function runAll(
  run: (...args: readonly string[]) => Promise<Ended>,
  commands: Readonly<Record<string, readonly string[]>>,
): Promise<Readonly<Record<string, Ended>>> {
  const ended = Object.entries(commands).map(async ([name, args]) => [name, await run(...args)] as const);
  return Object.fromEntries(await Promise.all(ended));
}

describe('files and a database', () => {
  test('give the same output for the same run', async () => {
    const [files, rows] = await Promise.all([playThrough(['--no-database']), playThrough([])]);
    expect(files.ended?.out).toBe('[main_help1]\nhelped\n[main]\nIt is blue\n');
    expect(rows.said?.err).toContain('It waits for the next prompt of main of same');
    expect(rows.logs?.out).toContain('Be brief');
    expect(rows.record?.out).toContain('answers:');
    expect(await fleet.database.query('select * from raymond.requests where outcome is null')).toStrictEqual([]);
    for (const [name, ended] of Object.entries(files)) {
      const other = rows[name];
      // The worker and its parent work at the same time: which is first is not the same each time.
      const order = (text: string): string => (name.startsWith('logs') ? text.split('\n').sort().join('\n') : text);
      const said = (each: Ended | undefined) => ({
        name,
        code: each?.code,
        out: order(normalize(each?.out ?? '')),
        err: name === 'ended' ? '' : normalize(each?.err ?? ''),
      });
      expect.soft(said(other)).toStrictEqual(said(ended));
    }
  });
});

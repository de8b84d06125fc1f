import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readRunEvents } from '../../../src/app/run-files.ts';
import { layoutOf } from '../../../src/disk/layout.ts';
import { createFileInbox } from '../../../src/storage/files/inbox.ts';
import { newCliProject } from '../../cli/cli-project.ts';
import { appears, startOwner, waiting, writeWorkflow } from '../../cli/owners.ts';
import { storageIn } from './open-files.ts';

/** The end of a question, an answer with a file, a message and a request to stop, as Raymond wrote them before there was an inbox. */
const SAMPLES = join(import.meta.dirname, 'fixtures/requests-1');

describe('requests that an older Raymond has left', () => {
  test('are found before the run is driven again, and then moved into the inbox and handled', async () => {
    const { cwd, raymond } = newCliProject();
    writeWorkflow(cwd, 'wf', {
      'START.sh': `echo '<ask next="NEXT">First?</ask>'`,
      'NEXT.sh': `echo '<ask next="END" upload_bucket="true">Which color?</ask>'`,
      'END.md': 'Color: {{result}}',
    });
    writeFileSync(join(cwd, 'answers.yaml'), 'answers: { END: <result>over</result> }');
    await raymond('wf', '--run-id', 'r1', '--quiet', '--agent', 'replay:answers.yaml');
    expect(await raymond('answer', 'r1', 'new', '--resume')).toMatchObject({ code: 2 });
    const folder = join(cwd, '.raymond/runs/r1');
    cpSync(SAMPLES, folder, { recursive: true });

    expect(JSON.parse((await raymond('asks', '--json')).out)).toMatchObject({
      questions: [{ ask_id: 'main-2', answered_by: 'anna@laptop' }],
    });
    const late = await raymond('answer', 'r1', 'main-2', 'red');
    expect([late.code, late.err]).toStrictEqual([64, expect.stringContaining('anna@laptop answered it first')]);

    expect(await raymond('resume', 'r1', '--quiet')).toMatchObject({ code: 0, out: 'over\n' });
    const events = await readRunEvents('r1', storageIn(cwd));
    const answers = events.flatMap((event) => (event.kind === 'ask_answered' ? [[event.text, event.files]] : []));
    expect(answers).toStrictEqual([
      ['new', []],
      ['blue', ['a.txt']],
    ]);
    expect(events.filter(({ kind }) => kind === 'said_delivered')).toHaveLength(1);
    expect(readFileSync(join(cwd, '.raymond/tasks/r1/main/asks/main-2/a.txt'), 'utf8')).toBe('a file\n');
    expect(readdirSync(folder).sort()).toStrictEqual([
      'history.json',
      'inbox',
      'journal.jsonl',
      'seals',
      'turns',
      'upload',
    ]);
    expect(readdirSync(join(folder, 'upload'))).toStrictEqual([]);
    const inbox = createFileInbox(layoutOf(join(cwd, '.raymond')));
    for (const id of ['main-1', 'main-2', '5ad235b0-b875-40c5-96a3-0abdbae0afbf'])
      expect((await inbox.find('r1', id))?.outcome).toStrictEqual({ kind: 'accepted', turn: null });
  });
});

test('a run that an older Raymond drives takes no requests, and the user is told what to do', async () => {
  const { cwd, raymond } = newCliProject();
  writeWorkflow(cwd, 'wf', { 'START.sh': waiting('<result>r</result>') });
  const owner = startOwner(cwd, 'wf', '--run-id', 'r1');
  await appears(cwd, 'here');
  const file = join(cwd, '.raymond/runs/r1/owner.1');
  const { inbox: _, ...record } = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file, JSON.stringify(record));
  expect(await raymond('say', 'r1', 'hello')).toStrictEqual({
    code: 64,
    out: '',
    err:
      `raymond: The run r1 is driven by process ${owner.pid}, an older Raymond that cannot receive requests of this one.\n` +
      'Use the Raymond that drives it, or press Ctrl-C there and continue with `raymond resume r1`.\n',
  });
  expect(await raymond('stop', 'r1')).toMatchObject({
    code: 64,
    err: expect.stringContaining('which cannot be asked to stop.\nIt is an older Raymond.'),
  });
  expect(readdirSync(join(cwd, '.raymond/runs/r1'))).not.toContain('inbox');
});

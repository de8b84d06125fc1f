import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { readRunEvents } from '../../src/app/run-files.ts';
import { storageIn } from '../store/open-files.ts';
import { type CliProject, newCliProject } from './cli-project.ts';
import { startOwner, writeWorkflow } from './owners.ts';

const ASKS = {
  'START.sh': `echo plan > "$RAYMOND_TASK_FOLDER/plan.md"
echo '<ask next="NEXT" display_files="plan.md:The plan">Publish it today?</ask>'`,
  'NEXT.sh': `echo "<result>$RAYMOND_INPUT for $RAYMOND_ASK_ID$(cat "$RAYMOND_TASK_FOLDER"/asks/*/* 2>/dev/null)</result>"`,
  'LATE.sh': 'echo "<result>late: $RAYMOND_ASK_ID ${RAYMOND_INPUT-nothing}</result>"',
};

/** A project with a run r1 that waits for an answer. */
async function waitingProject(files: Readonly<Record<string, string>> = ASKS): Promise<CliProject> {
  const project = newCliProject();
  writeWorkflow(project.cwd, 'wf', files);
  expect(await project.raymond('wf', '--run-id', 'r1', '--quiet')).toMatchObject({ code: 2, out: '' });
  return project;
}

const timed = (timeout: string): Readonly<Record<string, string>> => ({
  ...ASKS,
  'START.sh': `echo '<ask next="NEXT" timeout="${timeout}" timeout_next="LATE">Publish it?</ask>'`,
});

test('without a terminal, a run that asks continues as long as it can, then exits with 2 and says how to answer', async () => {
  const { cwd, raymond } = newCliProject();
  writeWorkflow(cwd, 'wf', {
    'START.sh': 'echo "<fork next=ASK>WORK</fork>"',
    'ASK.sh': `echo '<ask next="NEXT">Publish it today?</ask>'`,
    'WORK.sh': 'sleep 0.3; echo "<result>worked</result>"',
    'NEXT.sh': ASKS['NEXT.sh'],
  });
  const { code, out, err } = await raymond('wf', '--run-id', 'r1');
  expect([code, out]).toStrictEqual([2, '[main_work1]\nworked\n']);
  expect(err).toContain('Waiting for a person after');
  expect(err).toContain('\n[main] asks (main-2): Publish it today?\n');
  expect(err).toContain('\nTo answer: raymond answer r1 main-2 "TEXT" --resume\n');
});

describe('asks', () => {
  test('lists every question that waits, with its files and the command that answers it', async () => {
    const { cwd, raymond } = await waitingProject();
    const { out } = await raymond('asks');
    expect(out.split('\n').slice(1)).toStrictEqual([
      '  Publish it today?',
      `  The plan: ${join(cwd, '.raymond/tasks/r1/main/plan.md')}`,
      '  raymond answer r1 main-1 "TEXT" --resume',
      '',
    ]);
    expect(JSON.parse((await raymond('asks', '--json')).out)).toMatchObject({
      questions: [{ run_id: 'r1', run_status: 'waiting', ask_id: 'main-1', question: 'Publish it today?' }],
    });
    const list = await raymond('list');
    expect(list.err).toContain('1 question for a person: raymond asks');
    expect(list.out).toMatch(/ waiting +1 asking +\$/);
  });

  test('says so if there is none', async () => {
    expect(await newCliProject().raymond('asks')).toMatchObject({ code: 0, out: 'No run here asks anything.\n' });
  });
});

describe('a question with choices', () => {
  const CHOICES = {
    'START.sh': `echo '<ask next="NEXT" choices="Merge|Discard">Merge it?</ask>'`,
    'NEXT.sh': 'echo "<result>$RAYMOND_INPUT</result>"',
  };

  test('is listed with them, and its answer is one of their labels', async () => {
    const { raymond } = await waitingProject(CHOICES);
    const { out } = await raymond('asks');
    expect(out.split('\n').slice(1)).toStrictEqual([
      '  Merge it?',
      '  1 Merge',
      '  2 Discard',
      '  raymond answer r1 main-1 "CHOICE" --resume',
      '',
    ]);
    expect(JSON.parse((await raymond('asks', '--json')).out)).toMatchObject({
      questions: [{ choices: { labels: ['Merge', 'Discard'], other: false, many: false } }],
    });
    const refused = await raymond('answer', 'r1', 'Yes');
    expect([refused.code, refused.err.split('\n')[0]]).toStrictEqual([
      64,
      'raymond: the answer was not given: "Yes" is no choice: choose one of 1 Merge, 2 Discard',
    ]);
    expect(await raymond('answer', 'r1', 'dISCARD', '--resume')).toMatchObject({
      code: 0,
      out: 'Discard\n',
    });
  });

  test('takes a number', async () => {
    const { raymond } = await waitingProject(CHOICES);
    expect(await raymond('answer', 'r1', 'main-1', '1', '--resume')).toMatchObject({ out: 'Merge\n' });
  });

  test('takes several where that is allowed, one per line', async () => {
    const { raymond } = await waitingProject({
      ...CHOICES,
      'START.sh': `echo '<ask next="NEXT" choices="api|web|docs" choices_many="true">Which?</ask>'`,
    });
    const answered = await raymond('answer', 'r1', '3 1', '--resume');
    expect(answered).toMatchObject({ code: 0, out: 'api\ndocs\n' });
  });
});

describe('answer', () => {
  test('needs no id for the last of several questions that is open', async () => {
    const { raymond } = await waitingProject({
      'START.sh': `echo '<fork next="ASK">ASK</fork>'`,
      'ASK.sh': `echo '<ask next="NEXT">Well?</ask>'`,
      'NEXT.sh': 'echo "<result>$RAYMOND_INPUT</result>"',
    });
    const both = await raymond('answer', 'r1', 'Yes');
    expect(both).toMatchObject({ code: 64, err: expect.stringContaining('the run r1 asks 2 questions') });
    expect(await raymond('answer', 'r1', 'main_ask1-1', 'First')).toMatchObject({ code: 0 });
    expect(await raymond('answer', 'last', 'Second')).toMatchObject({
      code: 0,
      err: expect.stringContaining('main-2 of r1 is answered'),
    });
    const late = await raymond('answer', 'last', 'Third');
    expect(late).toMatchObject({ code: 64, err: expect.stringMatching(/is over: .* answered it first/) });
    expect((await raymond('resume', 'r1', '--quiet')).out).toBe('[main_ask1]\nFirst\n[main]\nSecond\n');
  });

  test('is found by the next resume, with its files, and the journal says who gave it', async () => {
    const { cwd, raymond } = await waitingProject();
    writeFileSync(join(cwd, 'f.txt'), ', with a file');
    const given = await raymond('answer', 'r1', 'Yes, "today"', '--upload', 'a.txt=f.txt');
    expect(given.err).toBe('main-1 of r1 is answered.\nNo process drives the run. To continue: raymond resume r1\n');
    for (const command of [['status', 'r1'], ['asks']]) {
      const { out } = await raymond(...command);
      expect(out).toMatch(/main-1.*@.* has answered/);
      expect(out).toContain('raymond resume r1\n');
      expect(out).not.toContain('raymond answer');
    }
    expect(await raymond('resume', 'r1', '--quiet')).toMatchObject({
      code: 0,
      out: 'Yes, "today" for main-1, with a file\n',
    });
    const events = await readRunEvents('r1', storageIn(cwd));
    expect(events.filter(({ kind }) => kind === 'ask_answered')).toMatchObject([
      { ask: 'main-1', text: 'Yes, "today"', by: expect.stringContaining('@'), files: ['a.txt'] },
    ]);
  });

  test('must come with the files of upload_slots, as the command says that answers; the recording has them', async () => {
    const { cwd, raymond } = await waitingProject({
      ...ASKS,
      'START.sh': `echo '<ask next="NEXT" upload_slots="a.txt,my data.bin">Which?</ask>'`,
    });
    expect((await raymond('asks')).out).toContain(
      `raymond answer r1 main-1 "TEXT" --upload a.txt=PATH --upload 'my data.bin=PATH' --resume`,
    );
    writeFileSync(join(cwd, 'a.txt'), ', with a file');
    writeFileSync(join(cwd, 'data'), Buffer.from([0xff, 0xfe, 0]));
    const refused = await raymond('answer', 'r1', 'this', '--upload', 'a.txt');
    expect([refused.code, refused.err.split('\n')[0]]).toStrictEqual([
      64,
      'raymond: the answer was not given: the question asks for files that are missing: my data.bin',
    ]);
    const given = await raymond(
      'answer',
      'r1',
      'this',
      '--upload',
      'a.txt',
      '--upload',
      'my data.bin=data',
      '--resume',
    );
    expect(given.code).toBe(0);
    const { out, err } = await raymond('test', '--record', 'r1', '--output', '-');
    expect(out).toContain('  START.sh:\n    - text: this\n      files:\n        a.txt: ", with a file"\n');
    expect(err).toContain('The file my data.bin that came with the answer to main-1 is not recorded: it is no text.');
  });

  test('with --resume continues with the run, and its exit code is that of the run', async () => {
    const { raymond } = await waitingProject();
    expect(await raymond('answer', 'last', 'main-1', 'ok', '--resume')).toMatchObject({
      code: 0,
      out: 'ok for main-1\n',
    });
  });

  test('that is empty and has no files is refused: a variable of a shell may not have been set', async () => {
    const { raymond } = await waitingProject();
    expect(await raymond('answer', 'r1', ' ')).toMatchObject({
      code: 64,
      err: 'raymond: the answer was not given: it is empty\nWrite what is to be done, or hand over a file.\n',
    });
    expect(await raymond('answer', 'r1', 'ok', '--resume')).toMatchObject({ code: 0, out: 'ok for main-1\n' });
  });

  test('comes from stdin or from a file, too', async () => {
    const { cwd, raymond } = await waitingProject();
    writeFileSync(join(cwd, 'answer.txt'), 'from a file\n\n');
    expect((await raymond('answer', 'r1', '--text-file', 'answer.txt', '--resume')).out).toBe(
      'from a file for main-1\n',
    );
  });

  test('the first counts: of two at once, one is told that it came second, and the run gets the other', async () => {
    const { cwd, raymond } = await waitingProject();
    const both = await Promise.all([raymond('answer', 'r1', 'one'), raymond('answer', 'r1', 'two')]);
    expect(both.map(({ code }) => code).sort()).toStrictEqual([0, 64]);
    const second = both.find(({ code }) => code === 64);
    expect(second?.err).toMatch(/^raymond: the question main-1 of r1 is over: .*@.* answered it first, at /);
    const first = both[0]?.code === 0 ? 'one' : 'two';
    expect((await raymond('resume', 'r1', '--quiet')).out).toBe(`${first} for main-1\n`);
    const late = await raymond('answer', 'r1', 'main-1', 'three');
    expect([late.code, late.err]).toStrictEqual([
      64,
      expect.stringMatching(/^raymond: the question main-1 of r1 is over: .*@.* answered it at /),
    ]);
    expect((await readRunEvents('r1', storageIn(cwd))).filter(({ kind }) => kind === 'ask_answered')).toHaveLength(1);
  });

  test.each([
    [['answer'], 'there is no run to answer'],
    [['answer', 'r1'], 'there is no answer'],
    [['answer', 'r1', 'main-1'], 'main-1 is a question: there is no answer'],
    [['answer', 'r1', 'main-7', 'x'], 'the run r1 has no question `main-7`'],
    [['answer', 'r1', 'main-1', 'x', '--text-file', 'f'], '--text-file and a text exclude each other'],
    [['answer', 'r1', '--text-file', 'gone'], '--text-file gone cannot be read (ENOENT)'],
    [['answer', 'r1', 'x', '--upload', '../a=b'], '--upload ../a=b: `../a` cannot be the name of a file'],
    [['answer', 'r1', 'x', 'y', 'z'], 'answer takes 3 arguments: `z` is one too many'],
  ])('is refused: %j', async (argv, message) => {
    const { raymond } = await waitingProject();
    const { code, err } = await raymond(...argv);
    expect([code, err.split('\n')[0]]).toStrictEqual([64, `raymond: ${message}`]);
  });

  test.skipIf(process.platform === 'win32')(
    'waits for a process that was stopped, as on a laptop that sleeps, and says so (needs POSIX signals)',
    async () => {
      const { cwd, raymond } = newCliProject();
      writeWorkflow(cwd, 'wf', timed('24h'));
      const owner = startOwner(cwd, 'run', 'wf', '--run-id', 'r1', '--quiet', '--on-ask', 'wait');
      await vi.waitUntil(async () => (await raymond('asks')).out.includes('Publish it?'), { timeout: 20_000 });
      owner.signal('SIGSTOP');
      const given = await raymond('answer', 'r1', 'Yes', '--resume');
      expect([given.code, given.err]).toStrictEqual([
        0,
        'main-1 of r1 is answered.\nThe process that drives the run has not taken it up yet: it is busy, or it was stopped.\n',
      ]);
      owner.signal('SIGCONT');
      expect(await owner.exited).toBe(0);
    },
  );

  test('is taken up at once by a run that waits, and its agent continues there', async () => {
    const project = newCliProject();
    writeWorkflow(project.cwd, 'wf', ASKS);
    const owner = startOwner(project.cwd, 'wf', '--run-id', 'r1', '--on-ask', 'wait');
    await vi.waitUntil(async () => (await project.raymond('asks')).out.includes('main-1'), { timeout: 60_000 });
    const given = await project.raymond('answer', 'r1', 'yes');
    expect([given.code, given.err]).toStrictEqual([0, 'main-1 of r1 is answered.\n']);
    expect(await owner.exited).toBe(0);
    expect(JSON.parse((await project.raymond('status', 'r1', '--json')).out)).toMatchObject({ status: 'completed' });
  });

  test('given while its run was dead is found by the next resume, and the question is answered once', async () => {
    const project = newCliProject();
    writeWorkflow(project.cwd, 'wf', ASKS);
    const owner = startOwner(project.cwd, 'wf', '--run-id', 'r1', '--on-ask', 'wait');
    await vi.waitUntil(async () => (await project.raymond('asks')).out.includes('main-1'), { timeout: 60_000 });
    owner.signal('SIGKILL');
    await owner.exited;
    expect((await project.raymond('answer', 'r1', 'yes', '--resume')).out).toBe('yes for main-1\n');
    const events = await readRunEvents('r1', storageIn(project.cwd));
    expect(events.filter(({ kind }) => kind === 'ask_answered')).toHaveLength(1);
  });
});

describe('a timeout', () => {
  test('fires at once on the next resume if nothing drove the run at its time', async () => {
    const { raymond, cwd } = await waitingProject(timed('0.05s'));
    await vi.waitUntil(() => Date.now() > untilOf(cwd));
    const { code, err } = await raymond('answer', 'r1', 'too late');
    expect([code, err]).toStrictEqual([64, expect.stringContaining('is over: its time was over at')]);
    expect((await raymond('resume', 'r1', '--quiet')).out).toBe('late: main-1 nothing\n');
    expect((await raymond('answer', 'r1', 'main-1', 'x')).err).toContain('is over: nobody answered it in time');
  });

  test('fires at its time in a run that waits', async () => {
    const { cwd, raymond } = newCliProject();
    writeWorkflow(cwd, 'wf', timed('0.2s'));
    expect(await raymond('wf', '--on-ask', 'wait', '--quiet')).toMatchObject({
      code: 0,
      out: 'late: main-1 nothing\n',
    });
  });

  test('does not count if the answer was there before, however late the resume is', async () => {
    const { raymond, cwd } = await waitingProject(timed('3s'));
    expect((await raymond('answer', 'r1', 'in time')).code).toBe(0);
    await vi.waitUntil(() => Date.now() > untilOf(cwd), { timeout: 10_000 });
    expect((await raymond('resume', 'r1', '--quiet')).out).toBe('in time for main-1\n');
  });
});

/** When the time of the question in r1 is over. */
function untilOf(cwd: string): number {
  const state = JSON.parse(readFileSync(join(cwd, '.raymond/state/r1.json'), 'utf8'));
  return state.agents[0].phase.untilMs;
}

describe('--on-ask', () => {
  test('fail lets the agent fail', async () => {
    const { cwd, raymond } = newCliProject();
    writeWorkflow(cwd, 'wf', ASKS);
    const { code, err } = await raymond('wf', '--on-ask', 'fail');
    expect([code, err]).toStrictEqual([
      1,
      expect.stringContaining('nobody is to be asked (--on-ask fail): Publish it today?'),
    ]);
  });

  test.each(['true', '"true"', 'auto'])(
    'fail is refused at the start if the manifest says that people are needed: %s',
    async (needed) => {
      const { cwd, raymond } = newCliProject();
      const permitsAsk = '# ---\n# allowed_transitions: [{ tag: ask, next: NEXT.sh }]\n# ---\n';
      const asks = needed === 'auto' ? { ...ASKS, 'START.sh': `${permitsAsk}${ASKS['START.sh']}` } : ASKS;
      writeWorkflow(cwd, 'wf', { ...asks, 'workflow.yaml': `requires_human_input: ${needed}` });
      expect(await raymond('wf', '--on-ask', 'fail')).toMatchObject({ code: 64, out: '' });
      expect(existsSync(join(cwd, '.raymond/state'))).toBe(false);
      expect((await raymond('wf', '--on-ask', 'exit')).code).toBe(2);
    },
  );

  test('wait, stopped by somebody else, leaves the question for later', async () => {
    const project = newCliProject();
    writeWorkflow(project.cwd, 'wf', ASKS);
    const owner = startOwner(project.cwd, 'wf', '--run-id', 'r1', '--on-ask', 'wait');
    await vi.waitUntil(async () => (await project.raymond('asks')).out.includes('main-1'), { timeout: 60_000 });
    expect((await project.raymond('stop', 'r1')).out).toContain('r1 has stopped: paused.');
    expect(await owner.exited).toBe(3);
    expect((await project.raymond('answer', 'r1', 'yes', '--resume')).out).toBe('yes for main-1\n');
  });
});

test('recover leaves a run alone that waits for a person, and says so', async () => {
  const { raymond } = await waitingProject();
  const { err } = await raymond('recover', '--resume');
  expect(err).toContain('Left alone: r1: it waits for the answer of a person; `raymond asks` shows the questions.');
});

test('several runs ask at the same time, and each gets its own answer', async () => {
  const { cwd, raymond } = newCliProject();
  writeWorkflow(cwd, 'wf', ASKS);
  for (const id of ['r1', 'r2']) await raymond('wf', '--run-id', id, '--quiet');
  const { questions } = JSON.parse((await raymond('asks', '--json')).out) as { questions: { run_id: string }[] };
  expect(questions.map(({ run_id }) => run_id)).toStrictEqual(['r1', 'r2']);
  expect((await raymond('answer', 'r2', 'second', '--resume')).out).toBe('second for main-1\n');
  expect((await raymond('answer', 'r1', 'first', '--resume')).out).toBe('first for main-1\n');
});

test('a question of a worker that a join has cancelled is over', async () => {
  const { cwd, raymond } = newCliProject();
  writeWorkflow(cwd, 'wf', {
    'START.sh': `echo '<fork>ASK</fork><fork>QUICK</fork><join wait="any" cancel="true">END</join>'`,
    'ASK.sh': `echo '<ask next="END">Which one?</ask>'`,
    'QUICK.sh': `until grep -rq '"asking"' .raymond/runs; do sleep 0.02; done; echo '<result>first</result>'`,
    'END.sh': 'echo "<result>over</result>"',
  });
  const { code, out } = await raymond('wf', '--run-id', 'r1', '--quiet', '--on-ask', 'wait');
  expect([code, out]).toStrictEqual([0, 'over\n']);
  expect((await raymond('asks')).out).toBe('No run here asks anything.\n');
  const late = await raymond('answer', 'r1', 'main_ask1-1', 'this one');
  expect(late).toMatchObject({ code: 64, err: expect.stringContaining('is over: its agent does not wait any more') });
});

test('a run with questions is recorded, and its scenario goes the same way', async () => {
  const { cwd, raymond } = await waitingProject({
    ...ASKS,
    'NEXT.sh': 'echo "<ask next=END timeout=1s timeout_next=LATE>Sure?</ask>"',
    'END.sh': 'echo "<result>end</result>"',
  });
  await raymond('answer', 'r1', 'Yes', '--resume');
  await raymond('resume', 'r1', '--on-ask', 'wait', '--quiet');
  const { code, out, err } = await raymond('test', '--record', 'r1');
  expect([code, out, err]).toStrictEqual([0, expect.anything(), expect.anything()]);
  const recorded = readFileSync(join(cwd, 'wf', 'r1.test.yaml'), 'utf8');
  expect(recorded).toMatch(/\nasks:\n {2}START\.sh:\n {4}- Yes\n {2}NEXT\.sh:\n {4}- null\n/);
  expect(await raymond('test', 'wf', '--coverage')).toMatchObject({ code: 0 });
});

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ResumeRequest, resumeRun } from '../src/app/resume.ts';
import { type RunRequest, runWorkflow } from '../src/app/start.ts';
import type { Event } from '../src/core/run/event.ts';
import type { Run } from '../src/core/run/run.ts';

let home: string;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'raymond-scripts-')));
});

afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));

/** Writes a workflow of scripts; the first file is its entry if none is called START. */
function workflow(files: Record<string, string>): string {
  const folder = join(home, 'wf');
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

async function runs(files: Record<string, string>, request: RunRequest = {}): Promise<{ run: Run; events: Event[] }> {
  const events: Event[] = [];
  const running = await runWorkflow(workflow(files), { cwd: home, observe: (event) => events.push(event), ...request });
  return { run: await running.finished, events };
}

const resumes = async (id: string, request: ResumeRequest = {}): Promise<Run> =>
  (await resumeRun(id, { cwd: home, acceptChangedCode: true, ...request })).finished;

const resultOf = (run: Run, agent = 'main'): string | undefined => {
  const phase = run.agents.find(({ id }) => id === agent)?.phase;
  return phase?.kind === 'ended' ? phase.result : undefined;
};

const errorOf = (run: Run): string | undefined => {
  const phase = run.agents[0]?.phase;
  return phase?.kind === 'failed' || phase?.kind === 'paused' ? phase.message : undefined;
};

const SAY = (text: string): string => `cat <<'END'\n${text}\nEND\n`;

describe('a script', () => {
  test('has its state, run and input in its environment', async () => {
    const { run } = await runs(
      {
        'START.sh': SAY('<fork next="END" item="a b" path="x/y">WORK</fork>'),
        'WORK.sh': 'echo "<call return=\\"BACK\\" input=\\"in\\">CHILD</call>"',
        'CHILD.sh': 'echo "<result>$RAYMOND_INPUT and $item</result>"',
        'BACK.sh':
          'echo "<result>$RAYMOND_WORKFLOW_ID|$RAYMOND_AGENT_ID|$RAYMOND_STATE|$RAYMOND_RESULT|$(cat "$RAYMOND_RESULT_FILE")|$item|$path|$PWD</result>"',
        'END.sh': 'echo "<result>${RAYMOND_RESULT-none} ${RAYMOND_RESULT_FILE-none} ${CLAUDECODE-none}</result>"',
      },
      { runId: 'r1', env: { ...process.env, CLAUDECODE: '1', RAYMOND_RESULT: 'outer' } },
    );
    expect(resultOf(run, 'main_work1')).toBe(`r1|main_work1|BACK.sh|in and a b|in and a b|a b|x/y|${home}`);
    expect(resultOf(run)).toBe('none none none');
  });

  test('has a folder for its task and one that all agents share, and knows which visit it is', async () => {
    const { run } = await runs(
      {
        'START.sh': SAY('<fork next="LOOP" task="inherit">HELP</fork><fork next="LOOP">WORK</fork>'),
        'HELP.sh': 'echo "<result>$RAYMOND_TASK_FOLDER</result>"',
        'WORK.sh':
          'touch "$RAYMOND_RUN_FOLDER/by-work"; echo "<result>$RAYMOND_TASK_FOLDER $(ls -A "$RAYMOND_TASK_FOLDER")</result>"',
        'LOOP.sh':
          'touch "$RAYMOND_TASK_FOLDER/$RAYMOND_VISIT"; [ "$RAYMOND_VISIT" = 3 ] && echo "<reset task=\\"new\\">END</reset>" || echo "<goto>LOOP</goto>"',
        'END.sh':
          'echo "<result>$(cd "$RAYMOND_TASK_FOLDER/.."; echo * main/*) $(ls -A "$RAYMOND_TASK_FOLDER")</result>"',
      },
      { runId: 'r1' },
    );
    const tasks = join(home, '.raymond', 'tasks', 'r1');
    expect(resultOf(run, 'main_help1')).toBe(join(tasks, 'main'));
    expect(resultOf(run, 'main_work2')).toBe(join(tasks, 'main_work2'));
    expect(resultOf(run)).toBe('main main.4 main_work2 shared main/1 main/2 main/3');
    expect(readdirSync(join(tasks, 'shared'))).toStrictEqual(['by-work']);
  });

  test('pauses if its folder cannot be made, and continues once it can', async () => {
    mkdirSync(join(home, '.raymond'));
    writeFileSync(join(home, '.raymond', 'tasks'), '');
    const { run } = await runs({ 'START.sh': 'echo "<result>ok</result>"' }, { runId: 'r1' });
    expect(run.status).toBe('paused');
    expect(errorOf(run)).toContain('cannot be made');
    rmSync(join(home, '.raymond', 'tasks'));
    expect(resultOf(await resumes('r1'))).toBe('ok');
  });

  test('has its folder where the user wants it', async () => {
    const { run } = await runs(
      { 'START.sh': 'touch "$RAYMOND_TASK_FOLDER/x"; echo "<result>$RAYMOND_TASK_FOLDER</result>"' },
      { runId: 'r1', options: { taskFolderPattern: 'scratch/{{workflow_id}}-{{agent_id}}' } },
    );
    expect(resultOf(run)).toBe(join(home, 'scratch', 'r1-main'));
  });

  test('gets a payload of any size in a file, byte for byte', async () => {
    const { run } = await runs({
      'START.sh': `printf '<call return="BACK">BIG</call>'`,
      'BIG.sh': `printf '<result>'; head -c 300000 /dev/zero | tr '\\0' 'x'; printf '</result>'`,
      'BACK.sh': 'echo "<result>${RAYMOND_RESULT-unset} $(wc -c < "$RAYMOND_RESULT_FILE")</result>"',
    });
    expect(resultOf(run)).toBe('unset 300000');
  });

  test('has an empty stdin and runs with bash', async () => {
    const { run } = await runs({ 'START.sh': 'x=(a b); read -r line; echo "<result>${x[1]} [$line]</result>"' });
    expect(resultOf(run)).toBe('b []');
  });

  test('runs in the working directory of its agent, which is restored with its caller', async () => {
    mkdirSync(join(home, 'sub'));
    const { run } = await runs({
      'START.sh': SAY('<call return="BACK">IN</call>'),
      'IN.sh': SAY('<reset cd="sub">THERE</reset>'),
      'THERE.sh': 'echo "<result>$PWD</result>"',
      'BACK.sh': 'echo "<result>$RAYMOND_RESULT $PWD</result>"',
    });
    expect(resultOf(run)).toBe(`${home}/sub ${home}`);
  });

  test.each([
    [
      'exits with an error',
      'echo "<result>x</result>"; echo oops >&2; exit 3',
      'START.sh: the script ended with exit code 3\noops',
    ],
    ['says nothing', 'true', 'START.sh: no next step is found in its output: it printed nothing'],
    [
      'says something on stderr only',
      'echo oops >&2',
      'START.sh: no next step is found in its output: it printed nothing\noops',
    ],
    [
      'says something else',
      'seq 9; echo "<gto>A</gto>"',
      'START.sh: no next step is found in its output: it contains no tag; it printed:\n6\n7\n8\n9\n<gto>A</gto>',
    ],
    [
      'says two things',
      SAY('<goto>A</goto>\n<result>x</result>'),
      'START.sh: no next step is found in its output: found 2 tags: `<goto>A</goto>` (line 1) and `<result>` (line 2)',
    ],
    [
      'exits with an error that it explains on stdout',
      'seq 30; echo "1 test failed"; exit 1',
      `START.sh: the script ended with exit code 1\n${Array.from({ length: 19 }, (_, index) => index + 12).join('\n')}\n1 test failed`,
    ],
    ['dies by a signal', 'kill -9 $$', 'START.sh: the script ended with exit code 137'],
  ])('fails its agent with the reason if it %s', async (_, script, message) => {
    const { run } = await runs({ 'START.sh': script, 'A.sh': 'true' });
    expect(run.status).toBe('failed');
    expect(errorOf(run)).toContain(message);
  });

  test.each([
    ['a state', '<goto>NEXT</goto>', (): void => writeFileSync(join(home, 'wf', 'NEXT.sh'), SAY('<result>x</result>'))],
    [
      'a folder',
      '<reset cd="later">LAST</reset>',
      (): void => {
        mkdirSync(join(home, 'later'));
      },
    ],
  ])(
    'keeps its answer if that names %s which is not there, and a resume follows it without running the script again',
    async (_, answer, mend) => {
      const script = `echo ran >> ${home}/effects\n${SAY(answer)}`;
      const { run } = await runs({ 'START.sh': script, 'LAST.sh': SAY('<result>x</result>') });
      expect([run.status, run.agents[0]?.phase]).toMatchObject(['paused', { kind: 'paused', why: 'unfollowable' }]);
      expect(errorOf(run)).toContain('START.sh: its next step cannot be taken: ');
      expect((await resumes(run.id)).status).toBe('paused');
      mend();
      const mended = await resumes(run.id);
      expect([mended.status, resultOf(mended)]).toStrictEqual(['completed', 'x']);
      expect(readFileSync(join(home, 'effects'), 'utf8')).toBe('ran\n');
    },
  );

  test('runs again with --retry if its answer still cannot be followed', async () => {
    const { run } = await runs({ 'START.sh': SAY('<goto>NXET</goto>'), 'NEXT.sh': SAY('<result>x</result>') });
    expect(run.status).toBe('paused');
    workflow({ 'START.sh': SAY('<goto>NEXT</goto>') });
    expect((await resumes(run.id)).status).toBe('paused');
    expect(resultOf(await resumes(run.id, { retry: true }))).toBe('x');
  });

  test('is ended if it is silent for too long, and the message says who set the limit', async () => {
    const { run } = await runs({ 'START.sh': 'sleep 600' }, { options: { timeoutMs: 200 } });
    expect(errorOf(run)).toContain(
      'START.sh: the script was ended: no output for 0.2 s, the limit set by --timeout or the config file',
    );
  });

  test('does not affect its siblings if it fails, and can be retried', async () => {
    const { run } = await runs({
      'START.sh': SAY('<fork next="FAIL">OK</fork>'),
      'OK.sh': SAY('<result>fine</result>'),
      'FAIL.sh': 'if [ -e mended ]; then echo "<result>mended</result>"; else exit 1; fi',
    });
    expect(run.status).toBe('failed');
    expect(resultOf(run, 'main_ok1')).toBe('fine');
    writeFileSync(join(home, 'mended'), '');
    expect((await resumes(run.id)).status).toBe('failed');
    const again = await resumes(run.id, { retry: true });
    expect(again.status).toBe('completed');
    expect(resultOf(again)).toBe('mended');
  });
});

describe('a run', () => {
  const LOOP = {
    'START.sh':
      'echo x >> lines; if [ "$(wc -l < lines)" -lt 3 ]; then echo "<reset>START</reset>"; else echo "<result>done</result>"; fi',
  };

  test('has its events as an iterable, from the first on, and tolerates an observer that throws', async () => {
    const observe = () => {
      throw new Error('observer');
    };
    const running = await runWorkflow(workflow(LOOP), { cwd: home, observe });
    const kinds: string[] = [];
    for await (const event of running.events) kinds.push(event.kind);
    expect(kinds.slice(0, 3)).toStrictEqual(['run_started', 'agent_started', 'turn_started']);
    expect(kinds.at(-1)).toBe('run_ended');
    expect((await running.finished).status).toBe('completed');
  });

  test('sends its events to all iterators, and forgets those that return', async () => {
    const running = await runWorkflow(workflow(LOOP), { cwd: home });
    const { events } = running;
    const all = async () => {
      let count = 0;
      for await (const _ of events) count += 1;
      return count;
    };
    const one = async () => {
      for await (const event of events) return event.kind;
      return 'none';
    };
    const [first, second, third] = await Promise.all([all(), all(), one()]);
    expect(first).toBe(second);
    expect(third).not.toBe('none');
  });

  test('is not affected by the end of another run of the same name', async () => {
    const files = { 'START.sh': 'echo here; while [ ! -e go ]; do sleep 0.02; done; echo "<result>r</result>"' };
    const other = join(home, 'other');
    mkdirSync(join(other, '.raymond'), { recursive: true });
    const one = await runWorkflow(workflow(files), { cwd: home, runId: 'same' });
    const { events } = one;
    const two = await runWorkflow(join(home, 'wf'), { cwd: other, runId: 'same' });
    for await (const event of events) if (event.kind === 'turn_started') one.kill();
    expect((await one.finished).status).toBe('paused');
    writeFileSync(join(other, 'go'), '');
    expect((await two.finished).status).toBe('completed');
  });

  test('stops at its limit of iterations and continues with a higher one', async () => {
    const { run } = await runs(LOOP, { options: { maxIterations: 2 } });
    expect(run.status).toBe('iteration_limit');
    expect((await resumes(run.id, { options: { maxIterations: 3 } })).status).toBe('completed');
    expect(readFileSync(join(home, 'lines'), 'utf8')).toBe('x\nx\nx\n');
  });

  test('runs nothing when it is resumed after its end', async () => {
    const { run } = await runs(LOOP);
    const again = await resumes(run.id);
    expect({ ...again, seq: 0 }).toStrictEqual({ ...run, seq: 0 });
    expect(readFileSync(join(home, 'lines'), 'utf8')).toBe('x\nx\nx\n');
  });

  test('has private files, and a readable history of its turns', async () => {
    const { run } = await runs(LOOP);
    const [debug = ''] = readdirSync(join(home, '.raymond', 'debug'));
    expect(readdirSync(join(home, '.raymond', 'debug', debug)).sort()).toStrictEqual([
      'index.jsonl',
      'main_START_001.txt',
      'main_START_002.txt',
      'main_START_003.txt',
      'transitions.log',
    ]);
    const state = statSync(join(home, '.raymond', 'state', `${run.id}.json`));
    expect(state.mode & 0o777).toBe(0o600);
    expect(statSync(join(home, '.raymond')).mode & 0o777).toBe(0o700);
  });

  test('leaves no files of its turns with debug off', async () => {
    const { run } = await runs(LOOP, { options: { debug: false } });
    expect(readdirSync(join(home, '.raymond'))).toStrictEqual(['.gitignore', 'runs', 'state', 'tasks']);
    expect(readdirSync(join(home, '.raymond', 'runs', run.id, 'turns'))).toStrictEqual([]);
  });

  test('reads a state each time it is entered; an invalid one pauses it until it is fixed', async () => {
    const { run } = await runs({
      'START.sh': 'printf "\\xff" > wf/MORE.sh; echo "<goto>MORE</goto>"',
      'MORE.sh': 'true',
    });
    expect(run.status).toBe('paused');
    expect(errorOf(run)).toContain('MORE.sh');
    writeFileSync(join(home, 'wf', 'MORE.sh'), 'echo "<result>mended</result>"');
    expect(resultOf(await resumes(run.id))).toBe('mended');
  });

  test('stops on request: running turns finish, nothing new starts, a resume continues', async () => {
    const files = {
      'START.sh': 'touch here; while [ ! -e go ]; do sleep 0.02; done; echo "<goto>NEXT</goto>"',
      'NEXT.sh': SAY('<result>n</result>'),
    };
    const running = await runWorkflow(workflow(files), { cwd: home });
    for await (const event of running.events) {
      if (event.kind === 'turn_started') running.stop();
      if (event.kind === 'run_stopping') writeFileSync(join(home, 'go'), '');
    }
    const run = await running.finished;
    expect(run.status).toBe('paused');
    expect(run.agents[0]?.state).toBe('NEXT.sh');
    expect(resultOf(await resumes(run.id))).toBe('n');
  });

  test('ends a script when it must stop immediately; only a retry runs it again', async () => {
    const files = {
      'START.sh': 'echo x >> lines; if [ -e quick ]; then echo "<result>q</result>"; else sleep 600; fi',
    };
    const running = await runWorkflow(workflow(files), { cwd: home });
    for await (const event of running.events) if (event.kind === 'turn_started') running.kill();
    const run = await running.finished;
    expect(run.status).toBe('paused');
    expect(errorOf(run)).toContain('resume --retry');
    writeFileSync(join(home, 'quick'), '');
    expect((await resumes(run.id)).status).toBe('paused');
    expect(resultOf(await resumes(run.id, { retry: true }))).toBe('q');
  });
});

test('a missing working directory is named', async () => {
  const gone = join(home, 'gone');
  const { run } = await runs({
    'START.sh': `mkdir ${gone}; echo '<reset cd="${gone}">NEXT</reset>'`,
    'NEXT.sh': `rmdir ${gone}; echo "<goto>LAST</goto>"`,
    'LAST.sh': 'echo "<result>r</result>"',
  });
  expect(run.agents[0]?.phase).toMatchObject({
    kind: 'failed',
    message: `LAST.sh: the working directory ${gone} does not exist`,
  });
});

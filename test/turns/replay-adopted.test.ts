import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { MARKER_VARIABLE } from '../../src/process/command.ts';
import { startCommand } from '../../src/process/start.ts';
import { readScenario } from '../../src/scenario/read-scenario.ts';
import { ReplayBackend } from '../../src/turns/replay/backend.ts';
import { findUnrecorded } from '../../src/turns/unrecorded-turns.ts';
import { newTurnContext } from './turn-context.ts';
import { newClaudeTurn, newScriptTurn } from './turns.ts';

const SCOPE = { files: ['START.md', 'RUN.sh'], platform: 'unix' } as const;

/** Someone who plays turns in a folder, without a run around them. */
function newReplay(answers: string) {
  const cwd = mkdtempSync(join(tmpdir(), 'raymond-replay-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true, maxRetries: 5 }));
  const dir = join(cwd, 'turn');
  const context = newTurnContext(dir, { readScope: async () => SCOPE });
  const scenario = readScenario('a.yaml', answers, SCOPE);
  const backend = new ReplayBackend({ ...context, scenario, fast: true });
  const record = {
    number: 1,
    prompt: { kind: 'state' },
    session: { kind: 'new', id: 's1' },
    startedAt: 0,
    capMicros: null,
  } as const;
  const prompt = newClaudeTurn(cwd, { record });
  const script = newScriptTurn(cwd, { state: 'RUN.sh', record });
  return { backend, context, cwd, dir, prompt, script };
}

test('a turn of an earlier process is repeated, though nothing of it is left', async () => {
  const { backend, cwd, dir, prompt } = newReplay(
    'answers: { START.md: { text: done, write: { a.txt: a }, cost: 0.5 } }',
  );
  const first = await backend.take(prompt, true);
  const printed = readFileSync(join(dir, 'stdout'), 'utf8');
  const second = await backend.take(prompt, true);
  expect(first).toMatchObject({ kind: 'answered', text: 'done', cost: { kind: 'reported', micros: 500_000 } });
  expect({ ...second, at: first.at }).toStrictEqual(first);
  expect(readFileSync(join(dir, 'stdout'), 'utf8')).toBe(printed);
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('a');
});

test('a replayed script of an earlier process is repeated, too', async () => {
  const { backend, dir, script } = newReplay('answers: { RUN.sh: <result>r</result> }');
  expect(await backend.scriptRunnerFor('RUN.sh')?.take(script, true)).toMatchObject({
    text: '<result>r</result>',
  });
  expect(existsSync(join(dir, 'stdout'))).toBe(true);
  expect(backend.scriptRunnerFor('OTHER.sh')).toBeUndefined();
});

test('an answer that was removed from the file fails its turn with a message', async () => {
  const { backend, prompt } = newReplay('answers: {}');
  expect(await backend.take(prompt, true)).toMatchObject({
    kind: 'failed',
    failure: { kind: 'invalid_request', message: expect.stringContaining('a.yaml has no answer for START.md') },
  });
});

test.skipIf(process.platform === 'win32')(
  'a real turn of another process is ended before it is replayed (not on Windows)',
  async () => {
    const { backend, context, cwd, dir, prompt } = newReplay('answers: { START.md: done }');
    mkdirSync(dir);
    writeFileSync(join(dir, 'stdin'), '');
    const env = { PATH: process.env.PATH ?? '', [MARKER_VARIABLE]: `${context.runMarker}/main/1` };
    const started = await startCommand(dir, { file: '/bin/sleep', args: ['600'], cwd, env });
    if (started.kind !== 'started') throw new Error('sleep does not start');
    expect(await backend.take(prompt, true)).toMatchObject({ kind: 'answered', text: 'done' });
    expect(await started.exited).not.toMatchObject({ kind: 'exited', code: 0 });
  },
);

test('a canned turn whose record was lost is entered as canned', async () => {
  const { backend, context, dir, prompt } = newReplay('answers: { START.md: { text: done, cost: 0.5 } }');
  await backend.take(prompt, true);
  const begun = [{ number: 1, stem: 'START', folder: dir }];
  const found = await findUnrecorded({ ...context, retry: true, findBegunTurns: () => begun }, prompt);
  expect(found?.turns.map(({ cost }) => cost)).toStrictEqual([{ kind: 'reported', micros: 500_000, canned: true }]);
});

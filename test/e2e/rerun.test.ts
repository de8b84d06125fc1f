import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { diffRun } from '../../src/app/diff.ts';
import { openFiles } from '../../src/app/open-files.ts';
import { readPoints } from '../../src/app/rerun/points.ts';
import { rerunRun } from '../../src/app/rerun/rerun.ts';
import type { RerunRequest } from '../../src/app/rerun/rerun-request.ts';
import type { Event } from '../../src/core/run/event.ts';
import type { Run } from '../../src/core/run/run.ts';
import { git } from '../git.ts';
import { conversation, type Rig, runToEnd, setUp, textReply, withEachClaude } from './rig.ts';

/** The digests of all files of a run, to show that nobody touches them. */
function digestRun(cwd: string, id: string): Record<string, string> {
  const root = join(cwd, '.raymond');
  const files = [
    `state/${id}.json`,
    ...readdirSync(join(root, 'runs', id), { recursive: true }).map((name) => `runs/${id}/${name}`),
  ];
  return Object.fromEntries(
    files.flatMap((file) => {
      try {
        return [
          [
            file,
            createHash('sha256')
              .update(readFileSync(join(root, file)))
              .digest('hex'),
          ],
        ];
      } catch {
        return [];
      }
    }),
  );
}

async function rerun(
  rig: Rig,
  run: string,
  request: Omit<RerunRequest, 'cwd' | 'env'>,
): Promise<{ run: Run; events: readonly Event[] }> {
  const events: Event[] = [];
  const env = rig.env as NodeJS.ProcessEnv;
  const handle = await rerunRun(run, { cwd: rig.cwd, env, observe: (event) => events.push(event), ...request });
  return { run: await handle.finished, events };
}

/** The conversations that the API got, without what Claude Code adds about its surroundings. */
const messagesOf = (rig: Rig, from: number): readonly string[] =>
  rig.api.requests
    .slice(from)
    .filter(({ prompt }) => prompt.startsWith('I am'))
    .map(({ messages }) =>
      messages
        .filter(({ role }) => role !== 'system')
        .flatMap(({ role, content }) => {
          const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
          return blocks.flatMap(({ type, text = '', name }) => {
            const own = text.replace(/<system-reminder>[\s\S]*?<\/system-reminder>/g, '').trim();
            return type === 'text' && (own === '' || own.startsWith('USD budget'))
              ? []
              : [`${role} ${type} ${name ?? own}`];
          });
        })
        .join('\n'),
    );

withEachClaude('rerun', (pinned) => {
  test('begins right before any turn, with the conversation and the files of then, and leaves the original as it was', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': 'I am START «tool Write {"file_path":"a.txt","content":"one\\n"}» «say Written. <goto>MORE</goto>»',
        'MORE.md': 'I am MORE «tool Bash {"command":"echo two >> a.txt"}» «say More. <goto>CHECK</goto>»',
        'CHECK.sh': 'wc -l < a.txt; echo "<goto>LAST</goto>"',
        'LAST.md':
          'I am LAST «tool Bash {"command":"echo three >> a.txt; pwd > where.txt"}» «say <result>over</result>»',
      },
      options: { skipPermissions: true },
      env: { IS_SANDBOX: '1' },
    });
    git(rig.cwd, 'init', '-q');
    writeFileSync(join(rig.cwd, '.gitignore'), '.env\n.raymond\n');
    git(rig.cwd, 'add', '-A');
    git(rig.cwd, 'commit', '-q', '-m', 'first');
    writeFileSync(join(rig.cwd, '.env'), 'SECRET=1\n');
    const run = await runToEnd(rig);
    expect(run.status).toBe('completed');
    const before = digestRun(rig.cwd, run.id);
    const place = openFiles(rig.cwd, rig.env as NodeJS.ProcessEnv);
    const points = await readPoints(run.id, place.storage);
    expect(
      points.map((point) => point.kind === 'turn' && [point.start.state, point.start.snapshot !== undefined]),
    ).toStrictEqual([
      ['START.md', true],
      ['MORE.md', true],
      ['CHECK.sh', true],
      ['LAST.md', true],
    ]);
    const diff = await diffRun(place, run.id, 'main/2');
    expect(diff.folders[0]?.files).toStrictEqual([{ path: 'a.txt', status: 'M', added: 1, removed: 0 }]);
    expect((await diffRun(place, run.id, 'LAST')).folders[0]?.files.map(({ path }) => path)).toStrictEqual([
      'a.txt',
      'where.txt',
    ]);
    const asked = rig.api.requests.length;
    const original = messagesOf(rig, 0);
    for (const [from, turn] of [
      ['main/2', 2],
      ['main/3', 3],
      ['LAST', 4],
    ] as const) {
      const start = rig.api.requests.length;
      const again = await rerun(rig, run.id, { from });
      expect(again.run.status).toBe('completed');
      const [folder = ''] = again.run.agents.map(({ cwd }) => cwd);
      expect(folder).not.toBe(rig.cwd);
      expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
      expect(readFileSync(join(folder, 'where.txt'), 'utf8').trim()).toBe(folder);
      expect(readFileSync(join(folder, '.env'), 'utf8')).toBe('SECRET=1\n');
      expect(git(folder, 'rev-parse', '--abbrev-ref', 'HEAD')).toBe(`raymond/${again.run.id}/main`);
      expect(again.run.rerunOf?.run).toBe(run.id);
      // The conversation is the one of then, without its future.
      const requests = messagesOf(rig, start);
      const same = original.slice(-requests.length);
      expect(requests).toStrictEqual(same);
      expect(again.events.find((event) => event.kind === 'turn_started')).toMatchObject({ turn });
      // What it costs is what its own turns cost.
      const own = again.events.flatMap((event) => (event.kind === 'turn_ended' ? [event.costMicros] : []));
      expect(again.run.ledger.spentMicros).toBe(own.reduce((sum, each) => sum + each, 0));
    }
    expect(readFileSync(join(rig.cwd, 'a.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
    expect(digestRun(rig.cwd, run.id)).toStrictEqual(before);
    expect(asked).toBeLessThan(rig.api.requests.length);
  });

  test('takes another file, input, message and model, and a rerun can be run again', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': 'I am START «say I know the plan. <goto input="first">REVIEW</goto>»',
        'REVIEW.md': 'I am REVIEW of {{result}} «say <goto>END</goto>»',
        'END.md': 'I am END «say <result>over</result>»',
      },
    });
    const run = await runToEnd(rig);
    const stricter = join(rig.cwd, 'stricter.md');
    writeFileSync(stricter, 'I am STRICT about {{result}} «say <goto>END</goto>»');
    const first = await rerun(rig, run.id, {
      from: 'REVIEW',
      with: { 'REVIEW.md': stricter },
      input: 'second',
      say: 'Be kind.',
      options: { model: 'opus' },
    });
    expect(first.run.status).toBe('completed');
    const prompts = rig.api.requests.map(({ prompt }) => prompt);
    expect(prompts.some((prompt) => /Be kind\.[\s\S]*I am STRICT about second/.test(prompt))).toBe(true);
    // Nothing is known of the future, and all of the past.
    const request = rig.api.requests.find(({ prompt }) => prompt.includes('I am STRICT'));
    const text = JSON.stringify(request?.messages);
    expect(text).toContain('I know the plan.');
    expect(text).not.toContain('I am REVIEW of first');
    expect(request?.model).toMatch(/opus/);
    const again = await rerun(rig, first.run.id, { from: 'END' });
    expect(again.run.status).toBe('completed');
    const last = JSON.stringify(rig.api.requests.at(-1)?.messages);
    expect(last).toContain('I am STRICT about second');
    const fresh = await rerun(rig, run.id, { from: 'REVIEW', files: 'now' });
    expect(fresh.run.agents[0]?.cwd).toBe(rig.cwd);
    expect(JSON.stringify(rig.api.requests.at(-2)?.messages)).toContain('I know the plan.');
  });

  test('goes back behind a summary of the conversation', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': 'I am START «usage 2000 20» «say I have read a lot. <goto>MORE</goto>»',
        'MORE.md': 'I am MORE «usage 2500 20» «say And more. <compact>END</compact>»',
        'END.md': 'I am END «usage 500 5» «say <goto>LAST</goto>»',
        'LAST.md': 'I am LAST «say <result>over</result>»',
      },
      script: (request) =>
        /summary/i.test(request.prompt) ? textReply('<summary>All was read.</summary>') : undefined,
    });
    const run = await runToEnd(rig);
    const start = rig.api.requests.length;
    const again = await rerun(rig, run.id, { from: 'MORE' });
    expect(again.run.status).toBe('completed');
    expect(JSON.stringify(rig.api.requests[start]?.messages)).toContain('I have read a lot.');
    const after = rig.api.requests.length;
    const last = await rerun(rig, run.id, { from: 'LAST' });
    expect(last.run.status).toBe('completed');
    const messages = JSON.stringify(rig.api.requests[after]?.messages);
    expect(messages).toContain('All was read.');
    expect(messages).not.toContain('I have read a lot.');
    expect(conversation(rig, 'I am LAST').length).toBeGreaterThan(0);
    // A rerun at the summary makes it again.
    const compact = await rerun(rig, run.id, { from: 'main/3' });
    expect(compact.run.status).toBe('completed');
  });
});

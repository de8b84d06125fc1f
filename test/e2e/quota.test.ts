import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { PINNED } from '../claude-code/pinned.ts';
import type { Reply } from '../messages-api/reply.ts';
import { resumeToEnd, setUp, textReply, withEachClaude } from './rig.ts';

const CLI = join(import.meta.dirname, '..', '..', 'dist', 'raymond.js');

/** Claude Code tells of its quota only with the token of a subscription. */
const SUBSCRIPTION = { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'made-up' };

const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

/** An answer that says how full the windows are. The older version tells of a share only if a threshold is surpassed. */
const replyWithUse = (text: string, utilization: number, reset: number): Reply => ({
  ...textReply(text),
  headers: {
    'anthropic-ratelimit-unified-status': 'allowed',
    'anthropic-ratelimit-unified-representative-claim': 'five_hour',
    'anthropic-ratelimit-unified-reset': `${reset}`,
    'anthropic-ratelimit-unified-5h-status': 'allowed',
    'anthropic-ratelimit-unified-5h-utilization': `${utilization}`,
    'anthropic-ratelimit-unified-5h-reset': `${reset}`,
    'anthropic-ratelimit-unified-5h-surpassed-threshold': '0.5',
  },
});

const STATES = { 'START.md': 'I am START', 'NEXT.md': 'I am NEXT' };

withEachClaude('a subscription', (pinned) => {
  test('that two runs share is used by neither of them beyond the reserve', async (context) => {
    const reset = inSeconds(3600);
    const rig = await setUp(context, pinned, {
      states: STATES,
      env: SUBSCRIPTION,
      options: { reserve: 20, wait: false },
      script: ({ prompt }) =>
        replyWithUse(prompt.startsWith('I am START') ? '<goto>NEXT</goto>' : '<result>over</result>', 0.85, reset),
    });
    const first = await (await rig.start()).finished;
    expect(first).toMatchObject({
      status: 'paused',
      stop: { kind: 'usage_limit', message: expect.stringContaining('85 % of the 5-hour window is used') },
      quota: { windows: { five_hour: { percent: 85, resetsAtMs: reset * 1000 } } },
    });
    const prompts = (): readonly string[] => rig.api.requests.map(({ prompt }) => prompt);
    expect(prompts()).toStrictEqual(['I am START']);
    const second = await (await rig.start()).finished;
    expect(second).toMatchObject({ status: 'paused', agents: [{ turns: 0 }], quota: first.quota });
    expect(prompts()).toStrictEqual(['I am START']);
    const third = await resumeToEnd(rig, { reserve: 0 });
    expect([third.status, prompts()]).toStrictEqual(['completed', ['I am START', 'I am START', 'I am NEXT']]);
    const shared = readFileSync(join(rig.cwd, '..', 'home', '.config', 'raymond', 'quota.json'), 'utf8');
    expect(Object.keys(JSON.parse(shared).accounts)).toStrictEqual([first.quota?.account]);
    expect(shared).not.toContain('made-up');
  });

  test('is waited for to the second of its reset, also if Raymond is killed while it sleeps', async (context) => {
    let reset = 0;
    const askedAt = new Map<string, number>();
    const rig = await setUp(context, pinned, {
      states: STATES,
      env: SUBSCRIPTION,
      script: ({ prompt }) => {
        askedAt.set(prompt, Date.now());
        if (prompt !== 'I am START') return replyWithUse('<result>over</result>', 0.01, inSeconds(3600));
        reset = inSeconds(8);
        return replyWithUse('<goto>NEXT</goto>', 0.85, reset);
      },
    });
    await mkdir(join(rig.cwd, '.raymond'));
    await writeFile(join(rig.cwd, '.raymond', 'config.toml'), '[raymond]\nreserve = "20%"\n');
    // A short name makes for a short delay after the reset; each version has one that no other test has: they run at the same time.
    const id = pinned === PINNED[0] ? 'q' : 'z';
    const args = [CLI, 'run', join(rig.cwd, '..', 'workflow'), '--claude', pinned.path, '--run-id', id];
    const child = spawn(process.execPath, args, { cwd: rig.cwd, env: rig.env, stdio: 'ignore' });
    const exited = once(child, 'exit');
    const journal = join(rig.cwd, '.raymond', 'runs', id, 'journal.jsonl');
    const isAsleep = (): boolean => existsSync(journal) && readFileSync(journal, 'utf8').includes('"kind":"sleeping"');
    while (!isAsleep() && child.exitCode === null) await delay(20);
    child.kill('SIGKILL');
    await exited;
    expect([...askedAt.keys()]).toStrictEqual(['I am START']);
    const run = await resumeToEnd(rig);
    expect(run.status).toBe('completed');
    const waited = (askedAt.get('I am NEXT') ?? 0) - reset * 1000;
    expect(waited).toBeGreaterThanOrEqual(0);
    expect(run.quota?.windows.five_hour?.percent ?? 1).toBe(1);
  });
});

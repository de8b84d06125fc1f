import { expect, test } from 'vitest';
import type { Activity } from '../../src/core/run/activity.ts';
import { formatActivity } from '../../src/render/format.ts';
import { resumeToEnd, runToEnd, setUp, textReply, withEachClaude } from './rig.ts';

/** The words about retries, without their times. */
const retriesIn = (seen: readonly Activity[]): readonly string[] =>
  seen
    .filter(({ doing }) => doing.kind === 'retries')
    .flatMap((activity) => formatActivity(activity))
    .map((line) => line.replace(/ in \d+ s/, ''));

withEachClaude('while the API fails', (pinned) => {
  test('a wrong key is said at once, tried twice and then left to the user', async (context) => {
    const seen: Activity[] = [];
    let asked = 0;
    const rig = await setUp(context, pinned, {
      states: { 'START.md': 'I am START' },
      script: () => (++asked <= 2 ? { blocks: [], fail: { kind: '401' } } : textReply('<result>over</result>')),
      watch: (activity) => seen.push(activity),
    });
    const paused = await runToEnd(rig);
    expect(paused.status).toBe('paused');
    expect(paused.agents.map(({ phase }) => phase)).toMatchObject([{ kind: 'paused', why: 'authentication' }]);
    expect(retriesIn(seen)).toStrictEqual([
      '[main] ! retrying (1 of 10): 401 invalid key or login',
      '[main] ! retrying (2 of 10): 401 invalid key or login',
    ]);
    expect(rig.api.requests.length).toBe(2);
    const run = await resumeToEnd(rig);
    expect(run.agents.map(({ phase }) => phase)).toStrictEqual([{ kind: 'ended', result: 'over' }]);
  });

  test('an overloaded API is said, and asked again', async (context) => {
    const seen: Activity[] = [];
    const rig = await setUp(context, pinned, {
      states: { 'START.md': 'I am START' },
      script: ({ attempt }) =>
        attempt === 1 ? { blocks: [], fail: { kind: '529' } } : textReply('<result>over</result>'),
      watch: (activity) => seen.push(activity),
    });
    expect((await runToEnd(rig)).status).toBe('completed');
    expect(retriesIn(seen)).toStrictEqual(['[main] ! retrying (1 of 10): 529 overloaded']);
  });

  test('a missing network is said', async (context) => {
    let tellFirst: (activity: Activity) => void = () => {};
    const first = new Promise<Activity>((done) => {
      tellFirst = done;
    });
    const rig = await setUp(context, pinned, {
      states: { 'START.md': 'I am START' },
      // Nobody listens there.
      env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' },
      watch: (activity) => tellFirst(activity),
    });
    const handle = await rig.start();
    expect(retriesIn([await first])).toStrictEqual(['[main] ! retrying (1 of 10): no connection']);
    handle.kill();
    await handle.finished;
  });
});

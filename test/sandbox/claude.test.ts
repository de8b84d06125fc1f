import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findMarkedProcesses } from '../../src/process/marker.ts';
import { until } from '../built-command.ts';
import { resumeToEnd, runToEnd, setUp, withEachClaude } from '../e2e/rig.ts';
import { NO_SANDBOX, SANDBOX_PATH, titled } from './programs.ts';

const SANDBOXED = { options: { sandbox: true }, env: { PATH: SANDBOX_PATH } };
const waitFor = (file: string): string =>
  JSON.stringify({ command: `echo once >> ran.txt; while [ ! -e ${file} ]; do sleep 0.05; done; echo ready` });

withEachClaude(titled('sandboxed prompts'), (pinned) => {
  const boxed = test.skipIf(NO_SANDBOX !== null);

  boxed('answer in one conversation, and may use any tool', async (context) => {
    const rig = await setUp(context, pinned, {
      ...SANDBOXED,
      states: {
        'START.md': 'First.\n\n«tool Bash {"command":"( echo a | tee a.txt ) && mkdir b"}»\n«say <goto>NEXT</goto>»',
        'NEXT.md': 'Second.\n\n«say <result>done</result>»',
      },
    });
    const run = await runToEnd(rig);
    expect([run.status, readFileSync(join(rig.cwd, 'a.txt'), 'utf8')]).toStrictEqual(['completed', 'a\n']);
    expect(rig.eventsOf('turn_ended').flatMap(({ denials }) => denials)).toStrictEqual([]);
  });

  boxed('survive kill -9 of Raymond during a tool: it runs once', async (context) => {
    const rig = await setUp(context, pinned, {
      ...SANDBOXED,
      states: {
        'START.md': `---\nsandbox: true\n---\nWork.\n\n«tool Bash ${waitFor('go')}»\n«say <result>done</result>»`,
      },
    });
    await rig.startAndKill('Work.', 'ran.txt');
    writeFileSync(join(rig.cwd, 'go'), '');
    const run = await resumeToEnd(rig);
    expect([run.status, readFileSync(join(rig.cwd, 'ran.txt'), 'utf8')]).toStrictEqual(['completed', 'once\n']);
  });

  boxed('continue when the proxy is killed', async (context) => {
    const rig = await setUp(context, pinned, {
      ...SANDBOXED,
      states: { 'START.md': `Work.\n\n«tool Bash ${waitFor('go')}»\n«say <result>done</result>»` },
    });
    const running = await rig.start();
    await until(() => existsSync(join(rig.cwd, 'ran.txt')), 'the tool');
    const proxies = async () =>
      (await findMarkedProcesses(`${running.id}/`)).filter(({ marker }) => marker?.endsWith('/proxy/1'));
    const [proxy] = await proxies();
    process.kill(proxy?.pid ?? 0, 'SIGKILL');
    await until(async () => (await proxies()).some(({ pid }) => pid !== proxy?.pid), 'another proxy');
    writeFileSync(join(rig.cwd, 'go'), '');
    expect((await running.finished).status).toBe('completed');
  });
});

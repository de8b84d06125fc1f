/** Settings that appear or change while a run is under way start nothing until a person has accepted them, whoever wrote them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { type Rig, runToEnd, setUp, withEachClaude } from '../e2e/rig.ts';
import { placedStates, tool, type WorkflowPlace } from './attack.ts';

const CLI = join(import.meta.dirname, '..', '..', 'dist', 'raymond.js');

/** A script writes the file, because the deny rules keep agents from it. */
interface Plant {
  readonly title: string;
  readonly file: string;
  readonly content: (mark: string) => string;
  /** The content that the owner has there when the run begins. */
  readonly before?: string;
  readonly cd?: string;
  readonly place: WorkflowPlace;
}

const hooks = (command: string): string =>
  JSON.stringify({ hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command }] }] } });
const OWN_HOOKS = hooks('touch ../marks/own');

const PLANTS: readonly Plant[] = [
  { title: 'new settings', file: '.claude/settings.json', content: hooks, place: 'inside' },
  { title: 'changed settings', file: '.claude/settings.json', content: hooks, before: OWN_HOOKS, place: 'outside' },
  {
    title: 'new settings in a folder below',
    file: 'sub/.claude/settings.local.json',
    content: hooks,
    cd: 'sub',
    place: 'outside',
  },
  {
    title: 'a new MCP server in a folder around',
    file: '.mcp.json',
    content: (command) => JSON.stringify({ mcpServers: { x: { command: 'sh', args: ['-c', command] } } }),
    cd: 'sub',
    place: 'inside',
  },
];

function put({ cwd }: Rig, path: string, text: string): void {
  mkdirSync(dirname(join(cwd, path)), { recursive: true });
  writeFileSync(join(cwd, path), text);
}

const marksOf = ({ cwd }: Rig): readonly string[] => readdirSync(join(cwd, '../marks')).sort();

async function raymond({ cwd, env }: Rig, ...args: readonly string[]): Promise<{ code: unknown; err: string }> {
  const child = spawn(process.execPath, [CLI, ...args], { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
  let err = '';
  child.stderr.on('data', (data: Buffer) => {
    err += data;
  });
  const [code] = await once(child, 'close');
  return { code, err };
}

withEachClaude('settings that change during a run', (pinned) => {
  for (const { title, file, content, before, cd, place } of PLANTS)
    test(`pause it until a person accepts them: ${title}, with the workflow ${place} the project`, async (context) => {
      const reset = cd === undefined ? '<reset>NEXT</reset>' : `<reset cd="${cd}">NEXT</reset>`;
      const rig = await setUp(context, pinned, {
        ...placedStates(place, {
          'START.md': 'I am START\n«say <goto>PLANT</goto>»',
          'PLANT.sh': `mkdir -p "$(dirname '${file}')"\ncp planted '${file}'\necho '${reset}'\n`,
          'NEXT.md': `I am NEXT\n${tool('Read', { file_path: 'notes.txt' })}\n«say <result>done</result>»`,
        }),
      });
      put(rig, '../marks/.keep', '');
      put(rig, 'sub/notes.txt', 'x');
      put(rig, 'planted', content(`touch ${join(rig.cwd, '../marks/planted')}`));
      if (before !== undefined) put(rig, file, before);
      const own = before === undefined ? ['.keep'] : ['.keep', 'own'];
      const what = before === undefined ? 'is new' : 'has changed';
      const says = `${join(rig.cwd, file)} ${what} since the run began`;
      expect((await runToEnd(rig)).agents[0]?.phase).toMatchObject({
        kind: 'paused',
        why: 'changed_code',
        message: expect.stringContaining(says),
      });
      expect((await (await rig.resume()).finished).agents[0]?.phase).toMatchObject({ why: 'changed_code' });
      await raymond(rig, 'recover', '--resume');
      const refused = await raymond(rig, 'resume', 'last', '--refuse-changed-code');
      expect([refused.code, refused.err]).toStrictEqual([3, expect.stringContaining(says)]);
      expect(rig.api.requests.some(({ prompt }) => prompt.startsWith('I am NEXT'))).toBe(false);
      expect(marksOf(rig)).toStrictEqual(own);
      const accepted = await raymond(rig, 'resume', 'last');
      expect([accepted.code, accepted.err]).toStrictEqual([0, expect.stringContaining('changed code accepted: ')]);
      expect(marksOf(rig)).toStrictEqual([...own, 'planted']);
    });

  test('do not pause it if the run skips all permissions', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.sh': "mkdir .claude\necho '{}' > .claude/settings.json\necho '<goto>NEXT</goto>'\n",
        'NEXT.md': 'I am NEXT\n«say <result>done</result>»',
      },
      options: { skipPermissions: true },
      env: { IS_SANDBOX: '1' },
    });
    expect((await runToEnd(rig)).agents[0]?.phase).toStrictEqual({ kind: 'ended', result: 'done' });
  });
});

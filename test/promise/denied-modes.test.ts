import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DEFAULT_OPTIONS } from '../../src/core/options/options.ts';
import { layoutOf } from '../../src/disk/layout.ts';
import { findDeniedTools } from '../../src/turns/claude/denied-tools.ts';
import { runToEnd, setUp, withEachClaude } from '../e2e/rig.ts';
import { setUp as setUpClaude } from '../turns/claude/real-claude.ts';
import { bash, present, tool, write } from './attack.ts';

/** Claude Code permits root to skip permissions only in a sandbox. */
const SANDBOX = { IS_SANDBOX: '1' };

const SETTINGS = ['.claude/settings.json', '.claude/agents/a.md', '.mcp.json', 'sub/.git/hooks/post-checkout'];
/** The files of an answer, a message and a request to stop that an agent would make of its own run. */
const INBOX = '.raymond/runs/{{workflow_id}}/inbox';
const ANSWER = `${INBOX}/main-1.json`;
const REQUESTS = [ANSWER, `${INBOX}/message.json`, `${INBOX}/stop-now-1.json`];

const START = [
  'I am START',
  ...[...SETTINGS, ...REQUESTS, '../workflow/START.md', 'notes.txt'].map((path) => write(path)),
  tool('Agent', { subagent_type: 'general-purpose', description: 'x', prompt: `${write(ANSWER)} «say written»` }),
  '«say <result>done</result>»',
].join('\n');

withEachClaude('the files of Raymond and of Claude Code', (pinned) => {
  const modes = [
    [
      'with bypassPermissions but no shell',
      '---\npermission_mode: bypassPermissions\ndisallowed_tools: Bash\n---\n',
      {},
    ],
    ['with every edit allowed', '---\nallowed_tools: [Edit, Write, "Edit(.claude/**)"]\n---\n', {}],
    ['in skipped permissions but no shell', '---\ndisallowed_tools: [Bash]\n---\n', { skipPermissions: true }],
  ] as const;
  for (const [title, frontmatter, options] of modes) {
    test(`are denied to an agent ${title}, and to its sub-agents`, async (context) => {
      const states = { 'START.md': `${frontmatter}${START}` };
      const rig = await setUp(context, pinned, { states, env: SANDBOX, options });
      const run = await runToEnd(rig);
      expect(run.agents[0]?.phase).toStrictEqual({ kind: 'ended', result: 'done' });
      const requests = REQUESTS.map((path) => path.replace('{{workflow_id}}', run.id));
      expect(present(rig.cwd, [...SETTINGS, ...requests])).toStrictEqual([]);
      expect(readFileSync(join(rig.cwd, '../workflow/START.md'), 'utf8')).toBe(states['START.md']);
      expect(readFileSync(join(rig.cwd, 'notes.txt'), 'utf8')).toBe('{}\n');
    });
  }

  test('are the only ones denied to an agent with a shell, and then only those of Raymond', async (context) => {
    const orders = [
      write('.claude/settings.json'),
      bash('echo x > ".mcp.json"'),
      write(ANSWER),
      bash(`touch "${ANSWER}"`),
    ];
    const states = {
      'START.md': `---\npermission_mode: bypassPermissions\n---\n${orders.join('\n')} «say <result>x</result>»`,
    };
    const rig = await setUp(context, pinned, { states, env: SANDBOX });
    const run = await runToEnd(rig);
    expect(present(rig.cwd, ['.claude/settings.json', '.mcp.json'])).toHaveLength(2);
    expect(present(rig.cwd, [ANSWER.replace('{{workflow_id}}', run.id)])).toStrictEqual([]);
  });

  test('include the workflow, unless the run may edit workflows', async (context) => {
    const paths = ['../workflow/NOTES.md', '.raymond/config.toml'];
    const rig = await setUp(context, pinned, {
      states: { 'START.md': `${paths.map((path) => write(path)).join('\n')} «say <result>done</result>»` },
      options: { editWorkflows: true, allowCd: ['../workflow'], permissionMode: 'bypassPermissions' },
      env: SANDBOX,
    });
    await runToEnd(rig);
    expect(present(rig.cwd, paths)).toStrictEqual(['../workflow/NOTES.md']);
  });

  test('include the states of a workflow in the working directory itself, and no other file there', async (context) => {
    const paths = ['START.md', 'GATE.sh', 'NEW.md', 'lib/a.txt', 'workflow.yaml'];
    const text = `I am START ${paths.map((path) => write(path)).join('\n')} «say <result>done</result>»`;
    const rig = await setUp(context, pinned, {
      states: { '../work/START.md': text, '../work/GATE.sh': 'echo "<result>x</result>"' },
      workflow: '../work',
    });
    const run = await runToEnd(rig);
    expect(run.agents[0]?.phase).toStrictEqual({ kind: 'ended', result: 'done' });
    expect(readFileSync(join(rig.cwd, 'START.md'), 'utf8')).toBe(text);
    expect(readFileSync(join(rig.cwd, 'GATE.sh'), 'utf8')).toBe('echo "<result>x</result>"');
    expect(present(rig.cwd, paths)).toStrictEqual(['START.md', 'GATE.sh', 'NEW.md', 'lib/a.txt']);
  });

  test('are denied whatever characters their paths have, by any name, also from a worktree among them', async () => {
    const rig = await setUpClaude(pinned);
    try {
      const project = join(rig.cwd, "a (b), [c]*{d} 'é' !#$ ~日本?");
      const layout = layoutOf(join(project, '.raymond'));
      const cwd = join(layout.worktreesFolder('my_run-1'), 'main');
      const taskFolder = join(layout.tasksFolder('my_run-1'), 'main');
      for (const folder of [cwd, taskFolder, layout.stateFolder, join(project, 'flow')])
        mkdirSync(folder, { recursive: true });
      symlinkSync(project, join(rig.cwd, 'named'));
      const limits = {
        ownFiles: {
          root: join(rig.cwd, 'named', '.raymond'),
          writable: layoutOf(join(rig.cwd, 'named', '.raymond')).writableFolders('my_run-1'),
        },
        workflowPlaces: () => [{ path: join(rig.cwd, 'named', 'flow'), files: [] }],
        startFolder: join(rig.cwd, 'named'),
        options: DEFAULT_OPTIONS,
        env: {},
      };
      const state = { permissionMode: 'bypassPermissions', allowedTools: null, disallowedTools: null };
      const denied = findDeniedTools(limits, { cwd, taskFolder, runFolder: null }, state);
      const outside = [
        '.raymond/state/x.json',
        '.raymond/tasks/my_run-2/x',
        '.raymond/tasks/my_run/x',
        'flow/START.md',
        'flow/lib/x',
      ];
      const inside = ['.git', '.raymond/config.toml'];
      const permitted = [
        join(cwd, 'a.txt'),
        join(taskFolder, 'b.txt'),
        join(rig.cwd, 'named', '.raymond/tasks/my_run-1/shared/c.txt'),
      ];
      writeFileSync(join(cwd, '.git'), 'gitdir: elsewhere');
      const prompt = [
        ...outside.flatMap((path) => [write(join(project, path)), write(join(rig.cwd, 'named', path))]),
        ...inside.map((path) => write(join(cwd, path))),
        ...permitted.map((path) => write(path)),
        '«say done»',
      ].join('\n');
      const { outcome } = await rig.runTurn({ prompt, cwd, denied, permissionMode: 'bypassPermissions', env: SANDBOX });
      expect(outcome).toMatchObject({ kind: 'answered', text: 'done' });
      expect(present(project, outside)).toStrictEqual([]);
      expect(present(cwd, ['a.txt', '.raymond'])).toStrictEqual(['a.txt']);
      expect(present('/', permitted)).toStrictEqual(permitted);
    } finally {
      await rig.close();
    }
  });
});

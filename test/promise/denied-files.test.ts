import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runToEnd, setUp, withEachClaude } from '../e2e/rig.ts';
import { placedStates, present, tool, WORKFLOW_FOLDER, WORKFLOW_PLACES, write } from './attack.ts';

const DENIED = [
  '.raymond/config.toml',
  '.raymond/state/x.json',
  '.raymond/runs/{{workflow_id}}/answers/main-1.json',
  '.raymond/runs/{{workflow_id}}/said/000000000000001-x.json',
  '.raymond/runs/{{workflow_id}}/inbox/main-2.json',
  '.raymond/runs/{{workflow_id}}/upload/g/a.txt',
  '.raymond/runs/other/inbox/stop-now-1.json',
  '.raymond/runs/{{workflow_id}}/workflow/helper.sh',
  '.raymond/runs/other/stop-now.1',
  '.raymond/debug/x',
  '.raymond/inbox/x',
  '.raymond/tasks/other/x',
  '.raymond/tasks/{{workflow_id}}2/x',
  '.raymond/taskssss/x',
  'sub/.raymond/config.toml',
  '.RAYMOND/state/case.json',
  'sub/../.raymond/state/dots.json',
  'link/state/linked.json',
  'dangling',
];

/** Other ways to `.raymond/state/detour.json`. */
const DETOURS = [
  '/proc/self/cwd/.raymond/state/detour.json',
  '.raymond/tasks/{{workflow_id}}/../../state/detour.json',
  '.raymond/worktrees/../state//./detour.json',
  '.Raymond/State/../../.raymond/state/detour.json',
];

const PERMITTED = [
  'notes.txt',
  '.raymond/tasks/{{workflow_id}}/main/notes.txt',
  '.raymond/tasks/{{workflow_id}}/shared/notes.txt',
  '.raymond/worktrees/old/main/notes.txt',
];

const NOTEBOOK = JSON.stringify({
  cells: [{ cell_type: 'code', id: 'a', source: 'old', metadata: {}, outputs: [], execution_count: null }],
  metadata: {},
  nbformat: 4,
  nbformat_minor: 5,
});

withEachClaude('files of Raymond', (pinned) => {
  for (const place of WORKFLOW_PLACES) {
    test(`are denied to an agent's file tools, with the workflow ${place} the project`, async (context) => {
      const flow = WORKFLOW_FOLDER[place];
      const denied = [...DENIED, `${flow}/START.md`, `${flow}/NEW.sh`, `${flow}/lib/helper.sh`];
      const rig = await setUp(context, pinned, {
        ...placedStates(place, {
          'START.md': [
            'I am START',
            ...[...denied, ...PERMITTED, ...DETOURS].map((path) => write(path, 'written')),
            tool('Read', { file_path: '.raymond/debug/edited.txt' }),
            tool('Edit', { file_path: '.raymond/debug/edited.txt', old_string: 'old', new_string: 'new' }),
            tool('Read', { file_path: '.raymond/debug/n.ipynb' }),
            tool('NotebookEdit', { notebook_path: '.raymond/debug/n.ipynb', cell_id: 'a', new_source: 'new' }),
            '«say <result>done</result>»',
          ].join('\n'),
        }),
      });
      mkdirSync(join(rig.cwd, '.raymond/debug'), { recursive: true });
      writeFileSync(join(rig.cwd, '.raymond/debug/edited.txt'), 'old');
      writeFileSync(join(rig.cwd, '.raymond/debug/n.ipynb'), NOTEBOOK);
      symlinkSync('.raymond', join(rig.cwd, 'link'));
      symlinkSync('.raymond/state/dangled.json', join(rig.cwd, 'dangling'));
      const run = await runToEnd(rig);
      const named = (path: string): string => path.replaceAll('{{workflow_id}}', run.id);
      const asked = readFileSync(join(rig.cwd, flow, 'START.md'), 'utf8');
      expect(run.agents[0]?.phase).toStrictEqual({ kind: 'ended', result: 'done' });
      expect(asked).toMatch(/^I am START/);
      expect(present(rig.cwd, denied.map(named))).toStrictEqual(['dangling', `${flow}/START.md`]);
      const unwritten = ['dangled', 'dots', 'detour'].map((name) => `.raymond/state/${name}.json`);
      expect(present(rig.cwd, unwritten)).toStrictEqual([]);
      expect(readFileSync(join(rig.cwd, '.raymond/debug/edited.txt'), 'utf8')).toBe('old');
      expect(readFileSync(join(rig.cwd, '.raymond/debug/n.ipynb'), 'utf8')).toBe(NOTEBOOK);
      expect(present(rig.cwd, PERMITTED.map(named))).toStrictEqual(PERMITTED.map(named));
    });
  }
});

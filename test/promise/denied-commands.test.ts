import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runToEnd, setUp, withEachClaude } from '../e2e/rig.ts';
import { bash, placedStates, present, WORKFLOW_PLACES } from './attack.ts';

/** Commands that Claude Code would run by itself while it accepts edits. */
const ATTACKS = [
  'echo null > .raymond/state/x.json',
  'touch .raymond/touched',
  'mkdir -p .raymond/runs/other/answers',
  'cp a.txt .raymond/config.toml',
  'mv a.txt .raymond/moved.json',
  'mv .raymond/kept.txt stolen.txt',
  'rm .raymond/kept.txt',
  'sed -i s/old/new/ .raymond/kept.txt',
  'rmdir .raymond/empty',
  'mv .raymond gone',
  'mv ./.raymond/ gone',
  'mv sub/../.raymond gone',
  'mv .ray"mond" gone',
  "mv '.raymond' gone",
  'mv .raymon\\d gone',
  'true && mv .ray"mond" gone',
  'env mv .ray"mond" gone',
  'mv\t.raymond\tgone',
  'if true; then mv .raymond gone; fi',
  'rm -r .raymond',
  'rm -rf .ray"mond"',
  'cp a.txt .mcp.json',
  'mkdir -p sub/.claude',
  'touch .claude/settings.json',
  'mv a.txt .git',
  // Folders around a denied file, and folders that a denied name goes into.
  'mv sub old',
  'rm -rf sub',
  'cp -r sub old',
  'cp a.txt .raymond',
  'cp a.txt ./.raymond/',
  '\\mv sub old',
  'command mv sub old',
];

withEachClaude('commands that Claude Code runs without asking', (pinned) => {
  for (const place of WORKFLOW_PLACES) {
    test(`do not change files of Raymond, with the workflow ${place} the project`, async (context) => {
      const rig = await setUp(context, pinned, {
        ...placedStates(place, {
          'START.md': [
            'I am START',
            ...ATTACKS.map(bash),
            bash('echo noted > {{task_folder}}/notes.txt'),
            '«say <result>done</result>»',
          ].join('\n'),
        }),
      });
      mkdirSync(join(rig.cwd, '.raymond/empty'), { recursive: true });
      mkdirSync(join(rig.cwd, 'sub'));
      writeFileSync(join(rig.cwd, 'a.txt'), 'old');
      writeFileSync(join(rig.cwd, '.raymond/kept.txt'), 'old');
      const run = await runToEnd(rig);
      const own = place === 'inside' ? ['flow'] : [];
      expect(run.agents[0]?.phase).toStrictEqual({ kind: 'ended', result: 'done' });
      expect(readdirSync(rig.cwd).sort()).toStrictEqual(['.raymond', 'a.txt', ...own, 'sub'].sort());
      expect(readdirSync(join(rig.cwd, '.raymond')).sort()).toStrictEqual(
        ['.gitignore', 'debug', 'empty', 'kept.txt', 'runs', 'snapshots', 'state', 'tasks'].sort(),
      );
      expect(present(rig.cwd, [`.raymond/tasks/${run.id}/main/notes.txt`])).toHaveLength(1);
      expect(readdirSync(join(rig.cwd, 'sub'))).toStrictEqual([]);
      expect(readdirSync(join(rig.cwd, '.raymond/runs'))).toStrictEqual([run.id]);
    });
  }
});

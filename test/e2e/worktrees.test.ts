import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { WorkerResult } from '../../src/core/joins/join-results.ts';
import { runToEnd, setUp, withEachClaude } from './rig.ts';

withEachClaude('a worktree', (pinned) => {
  test('is where a worker edits a file, and the join gets its branch and its commit', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.sh': `echo '<fork worktree="auto">EDIT</fork><join>MERGE</join>'`,
        'EDIT.md': 'I am EDIT «tool Write {"file_path":"note.txt","content":"written"}» «say <goto>COMMIT</goto>»',
        'COMMIT.sh':
          'git add note.txt && git -c user.name=a -c user.email=a@b commit -qm note && echo "<result>did</result>"',
        'MERGE.sh': 'cp "$RAYMOND_RESULTS_FILE" results.json; echo "<result>merged</result>"',
      },
      options: { permissionMode: 'acceptEdits' },
    });
    const git = (...args: string[]) => execFileSync('git', args, { cwd: rig.cwd, encoding: 'utf8' }).trim();
    git('init', '-q');
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'first');
    const run = await runToEnd(rig);
    expect([run.status, rig.eventsOf('turn_ended').flatMap(({ denials }) => denials)]).toStrictEqual(['completed', []]);
    const [worker]: readonly WorkerResult[] = JSON.parse(readFileSync(join(rig.cwd, 'results.json'), 'utf8'));
    const branch = `raymond/${run.id}/main_edit1`;
    expect(worker).toMatchObject({ status: 'ended', result: 'did', branch, commits: 1, dirty: false });
    expect([git('show', `${branch}:note.txt`), git('log', '--format=%s', 'HEAD')]).toStrictEqual(['written', 'first']);
  });
});

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { parsePs, processEntry } from '../../src/process/process-table.ts';
import { awake, go, shell, start, useTurns, WAIT_FOR_GO, wordsIn } from './turns.ts';

const { newTurn } = useTurns();

test('reads the table that macOS prints', () => {
  const text = `    1     1 Ss   Tue Sep  3 09:01:02 2024     /sbin/launchd
  812   811 S+   Tue Sep 13 09:01:02 2024     sleep 60 PATH=/bin RAYMOND_TURN=run-1/7 HOME=/Users/x
  811   811 S+   Tue Sep 13 09:01:02 2024     sh -c x RAYMOND_WRAPPER=1 RAYMOND_TURN=run-1/7
  813   811 Z+   Tue Sep 13 09:01:02 2024     (sleep)
`;
  const start = 'Tue Sep 13 09:01:02 2024';
  const shown = parsePs(text).map(({ program, ...entry }) => entry);
  expect(shown).toStrictEqual([
    { pid: 1, group: 1, start: 'Tue Sep 3 09:01:02 2024', zombie: false, marker: undefined, wrapper: false },
    { pid: 812, group: 811, start, zombie: false, marker: 'run-1/7', wrapper: false },
    { pid: 811, group: 811, start, zombie: false, marker: 'run-1/7', wrapper: true },
    { pid: 813, group: 811, start, zombie: true, marker: undefined, wrapper: false },
  ]);
});

test('agrees with /proc if both exist', async () => {
  const turn = newTurn();
  const { pid, exited } = await start(turn, shell(turn, WAIT_FOR_GO));
  await wordsIn(turn, 'started');
  const columns = ['-o', 'pid=', '-o', 'pgid=', '-o', 'stat=', '-o', 'lstart=', '-o', 'args='];
  const text = execFileSync('ps', ['axeww', ...columns], { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } });
  const seen = parsePs(text).find((entry) => entry.pid === pid);
  const entry = await processEntry(pid);
  expect(seen).toStrictEqual({ ...entry, start: seen?.start, program: seen?.program });
  go(turn);
  await awake(exited);
});

import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { installRaymond, PROJECT } from '../torture/install.ts';
import { midTurn, torture } from '../torture/torture.ts';
import { PINNED } from './claude-code/pinned.ts';

const claude = PINNED.at(-1);
const canRun = process.platform === 'linux' && claude?.isInstalled && existsSync(join(PROJECT, 'dist'));

/** A few of the kills that `npm run torture` deals out by the hundred; docs/reliability.md says what is compared. */
test.skipIf(!canRun)(
  'a run that is killed again and again ends as if nothing had happened',
  { timeout: 240_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'raymond-torture-'));
    try {
      const raymond = await installRaymond(join(folder, 'installed'));
      const ground = { raymond, claude: claude?.path ?? '', folder, pace: { leastMs: 100, mostMs: 300 } };
      const wish = { seed: 7, kills: 8, modes: ['orchestrator', 'mixed'], mostPerRun: 5, longestMs: 2_000 } as const;
      const trials = await torture(ground, wish, () => {});
      expect(trials.flatMap(({ id, faults }) => faults.map((fault) => `${id}: ${fault}`))).toStrictEqual([]);
      const kills = trials.flatMap((trial) => trial.kills);
      expect(kills).toHaveLength(wish.kills);
      expect(midTurn(kills)).toBeGreaterThan(wish.kills / 2);
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  },
);

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

/** A few of the kills of `npm run torture`; docs/reliability.md says what is compared. */
test.skipIf(!canRun)(
  'a run that is killed several times ends like an undisturbed run',
  { timeout: 240_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'raymond-torture-'));
    try {
      const raymond = await installRaymond(join(folder, 'installed'));
      const environment = { raymond, claude: claude?.path ?? '', folder, pace: { minMs: 100, maxMs: 300 } };
      const options = {
        seed: 7,
        kills: 8,
        modes: ['orchestrator', 'mixed'],
        maxKillsPerRun: 5,
        maxDelayMs: 2_000,
      } as const;
      const trials = await torture(environment, options, () => {});
      expect(trials.flatMap(({ id, failures }) => failures.map((failure) => `${id}: ${failure}`))).toStrictEqual([]);
      const kills = trials.flatMap((trial) => trial.kills);
      expect(kills).toHaveLength(options.kills);
      expect(midTurn(kills)).toBeGreaterThan(options.kills / 2);
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  },
);

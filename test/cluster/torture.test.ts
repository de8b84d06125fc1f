import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tortureFleet } from '../../torture/fleet-torture.ts';
import { PROJECT } from '../../torture/install.ts';
import { PostgresServer } from '../postgres/server.ts';

/** A few of the blows of `npm run torture -- fleet`; docs/fleet.md says what is compared. */
test.skipIf(process.platform !== 'linux')(
  'three workers that are killed with their turns and their database end their runs like undisturbed ones (Linux only: /proc shows the turns)',
  { timeout: 400_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'raymond-torture-'));
    const server = await PostgresServer.start();
    try {
      const raymond = join(PROJECT, 'dist', 'raymond.js');
      const environment = { raymond, claude: null, server, folder, pace: { minMs: 0, maxMs: 0 } };
      const options = {
        seed: 3,
        rounds: 3,
        modes: [
          { blows: ['worker', 'workers', 'database', 'connections'] },
          { blows: ['worker', 'both'] },
          { blows: ['gone', 'still'], lost: 'rehome' },
        ],
        blowsPerRound: 3,
        maxDelayMs: 1_000,
        cannedRuns: 2,
        cloneRuns: 0,
        claudeEvery: 0,
      } as const;
      const rounds = await tortureFleet(environment, options, () => {});
      expect(rounds.flatMap(({ round, failures }) => failures.map((each) => `${round}: ${each}`))).toStrictEqual([]);
      expect(rounds.map(({ blows }) => blows.length)).toStrictEqual([0, 3, 3, 2]);
    } finally {
      await server.stop();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  },
);

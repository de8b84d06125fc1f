import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Event } from '../../../src/core/run/event.ts';
import { layoutOf } from '../../../src/disk/layout.ts';
import { identifyThisProcess } from '../../../src/process/identity.ts';
import { createFileBlobs } from '../../../src/storage/files/blobs.ts';
import { createFileLeases } from '../../../src/storage/files/lease.ts';
import { loadRun } from '../../../src/storage/files/load.ts';
import { addStateChecksum } from '../../../src/storage/run-file.ts';
import { describeBlobContract } from '../blob-contract.ts';
import { describeLeaseContract, type LeaseHarness } from '../lease-contract.ts';
import { readEvents } from '../read-events.ts';
import { temporaryFolders } from '../temp.ts';

const temporary = temporaryFolders();
const NEVER = 1e9;

describeLeaseContract('a folder', async (): Promise<LeaseHarness> => {
  const layout = layoutOf(join(temporary(), '.raymond'));
  const here = await identifyThisProcess();
  const isGone = { pid: 2 ** 22 + 1, startTime: 'long ago' };
  return {
    process: (bootId = 'boot') =>
      createFileLeases(layout, { snapshotEveryMs: NEVER, facts: { ...here, ...isGone, bootId } }),
    async keepAlive({ epoch }) {
      writeFileSync(
        join(layout.runFolder('run-1'), `owner.${epoch}`),
        JSON.stringify({ ...here, life: 'a'.repeat(32) }),
      );
    },
    command: createFileLeases(layout, { snapshotEveryMs: NEVER }),
    load: async (id) => (await loadRun(layout, id, { cut: false })).run,
    async readEvents(id) {
      const events: Event[] = [];
      for await (const { event } of readEvents(layout, id)) events.push(event);
      return events;
    },
    async setVersion(id, version) {
      const file = layout.stateFile(id);
      const { checksum: _, ...content } = JSON.parse(readFileSync(file, 'utf8'));
      writeFileSync(file, addStateChecksum(JSON.stringify({ ...content, version }, null, 2)));
    },
    async damage(id) {
      const file = layout.stateFile(id);
      writeFileSync(file, readFileSync(file, 'utf8').replace('"seq"', '"sed"'));
    },
    dump: async (id) => [readFileSync(layout.stateFile(id), 'utf8'), readFileSync(layout.journalFile(id), 'utf8')],
  };
});

describeBlobContract('a folder', async () => {
  const layout = layoutOf(join(temporary(), '.raymond'));
  const facts = { ...(await identifyThisProcess()), pid: 2 ** 22 + 1, startTime: 'long ago' };
  return { blobs: createFileBlobs(layout), process: () => createFileLeases(layout, { facts }) };
});

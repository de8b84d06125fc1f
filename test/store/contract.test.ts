import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Event } from '../../src/core/event.ts';
import { addStateChecksum } from '../../src/store/checksum.ts';
import { readEvents } from '../../src/store/journal-events.ts';
import { layoutOf } from '../../src/store/layout.ts';
import { loadRun } from '../../src/store/load.ts';
import { identifyThisProcess } from '../../src/store/process-identity.ts';
import { createRun, openStore } from '../../src/store/store.ts';
import { describeStoreContract, type StoreHarness } from './contract.ts';
import { temporaryFolders } from './temp.ts';

const temporary = temporaryFolders();
const NEVER = 1e9;

describeStoreContract('the store on disk', async (): Promise<StoreHarness> => {
  const layout = layoutOf(join(temporary(), '.raymond'));
  // An owner that is gone, so that the next process may take its run.
  const facts = { ...(await identifyThisProcess()), pid: 2 ** 22 + 1, startTime: 'long ago' };
  return {
    create: ({ run, events }) => createRun(layout, run, events, { snapshotEveryMs: NEVER, facts }),
    takeOver: (id) => openStore(layout, id, { snapshotEveryMs: NEVER }),
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
    dump: async (id) => [readFileSync(layout.stateFile(id), 'utf8'), readFileSync(layout.journalFile(id), 'utf8')],
  };
});

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { layoutOf } from '../../../src/disk/layout.ts';
import { createFileBlobs } from '../../../src/storage/files/blobs.ts';
import { createFileInbox } from '../../../src/storage/files/inbox.ts';
import { createFileLeases } from '../../../src/storage/files/lease.ts';
import { describeInboxContract } from '../inbox-contract.ts';
import { fixedHistory } from '../run-history.ts';
import { temporaryFolders } from '../temp.ts';

const temporary = temporaryFolders();
const BUILD = join(import.meta.dirname, '../../../build');

describeInboxContract('the inbox in files', async () => {
  const layout = layoutOf(join(temporary(), '.raymond'));
  let runs = 0;
  let processes = 0;
  /** Each process has another start time, so that the next one finds it gone. */
  const nextProcess = (): object => ({
    facts: { pid: process.pid, startTime: `${++processes}`, namespace: null, host: 'here', bootId: 'boot' },
  });
  return {
    inbox: createFileInbox(layout),
    blobs: createFileBlobs(layout),
    async createRun() {
      const history = fixedHistory(0, `run-${++runs}`);
      await (await createFileLeases(layout, nextProcess()).create(history)).release();
      return history.run.id;
    },
    async acquire(run) {
      const lease = await createFileLeases(layout, nextProcess()).acquire(run, { takeOver: true });
      return {
        leaseId: lease.leaseId,
        pending: async () => lease.pending(),
        settle: (id, outcome) => lease.settle(id, outcome),
        close: () => lease.release(),
        abandon: () => lease.abandon(),
      };
    },
    async plant(run, id) {
      const file = layout.requestFile(run, id);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, '{"version":1,"kind":"stop"}');
    },
    removeRun: async (run) => rmSync(layout.runFolder(run), { recursive: true }),
    openElsewhere: `
      const { createFileInbox } = await import(${JSON.stringify(join(BUILD, 'storage/files/inbox.js'))});
      const { layoutOf } = await import(${JSON.stringify(join(BUILD, 'disk/layout.js'))});
      const inbox = createFileInbox(layoutOf(${JSON.stringify(layout.root)}));`,
  };
});

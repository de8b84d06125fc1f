import { open } from 'node:fs/promises';
import type { AppendFile, OpenToAppend } from '../../../src/storage/files/journal-writer.ts';

/** Real files that count their writes, wait at a gate before each sync, and run full or fail on request. */
export class Disk {
  writes = 0;
  syncs = 0;
  /** The number of bytes until the disk is full. */
  space = Number.POSITIVE_INFINITY;
  failSync: string | undefined;
  gate: Promise<void> = Promise.resolve();

  readonly open: OpenToAppend = async (file): Promise<AppendFile> => {
    const handle = await open(file, 'a', 0o600);
    return {
      write: async (bytes, offset, length) => {
        this.writes++;
        if (this.space <= 0) throw fault('ENOSPC');
        const taken = Math.min(length, this.space);
        this.space -= taken;
        return handle.write(bytes, offset, taken);
      },
      datasync: async () => {
        this.syncs++;
        await this.gate;
        if (this.failSync !== undefined) throw fault(this.failSync);
        await handle.datasync();
      },
      close: () => handle.close(),
    };
  };
}

const fault = (code: string): Error => Object.assign(new Error(`${code}: made up`), { code });

import { closeSync, openSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Change } from '../../core/run/change.ts';
import { diskError, PRIVATE_FILE_MODE, syncFolder } from '../../disk/files.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import { formatJournalLine } from '../journal-lines.ts';
import type { JournalPosition } from '../run-file.ts';

/** The part of a FileHandle that the journal needs. */
export interface AppendFile {
  write(bytes: Uint8Array, offset: number, length: number): Promise<{ readonly bytesWritten: number }>;
  datasync(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a file for appending, and makes it if there is none. */
export type OpenToAppend = (file: string) => Promise<AppendFile>;

/** Writes go to memory of the system and are synchronous; only the sync, which waits for the disk, goes through the thread pool. */
const openToAppend: OpenToAppend = async (file) => {
  const handle = await open(file, 'a', PRIVATE_FILE_MODE);
  return {
    write: async (bytes, offset, length) => ({ bytesWritten: writeSync(handle.fd, bytes, offset, length) }),
    datasync: () => handle.datasync(),
    close: () => handle.close(),
  };
};

/** For journals that need not survive a power cut: never synced, every write synchronous. */
const openUnsynced: OpenToAppend = async (file) => {
  const descriptor = openSync(file, 'a', PRIVATE_FILE_MODE);
  return {
    write: async (bytes, offset, length) => ({ bytesWritten: writeSync(descriptor, bytes, offset, length) }),
    datasync: async () => {},
    close: async () => closeSync(descriptor),
  };
};

/** How a journal is written. */
export interface JournalOptions {
  /** The number of the owner that writes; 1 if left out. */
  readonly owner?: number;
  /** Called right before each write; throws a RaymondError if this process may not write any more. */
  readonly fence?: () => void;
  /** True if the run begins with the first line; else it is there already. */
  readonly isNew?: boolean | undefined;
  readonly openFile?: OpenToAppend | undefined;
  readonly durable?: boolean | undefined;
}

/**
 * Writes the steps of a run, one line each, to disk before anything that depends on them starts.
 *
 * 1. A change whose `append` has resolved survives a power cut.
 * 2. Lines are in the order of the calls.
 * 3. Nothing is written once another process has taken the run over.
 * 4. After a failed write or sync it is unknown what the disk holds, so everything that follows is refused.
 */
export class Journal {
  private readonly file: string;
  private readonly handle: AppendFile;
  /** Where the journal will end once everything that was appended is on disk. */
  private pendingEnd: JournalPosition;
  /** Null while there is nothing to continue with: the first line of a new run is not on disk. */
  private keptSeq: number | null;
  private waiting: Buffer[] = [];
  private running: Promise<void> = Promise.resolve();
  /** The sync that new appends share; it starts when the running one is over. */
  private next: Promise<void> | undefined;
  private refusal: RaymondError | undefined;
  private readonly owner: number;
  private readonly fence: () => void;

  private constructor(file: string, handle: AppendFile, end: JournalPosition, options: JournalOptions) {
    this.file = file;
    this.handle = handle;
    this.owner = options.owner ?? 1;
    this.fence = options.fence ?? (() => {});
    this.pendingEnd = end;
    this.keptSeq = keptSeqAt(end, options);
  }

  /** Opens the journal of a run to append after `end`, the end of the file. */
  static async open(file: string, end: JournalPosition, options: JournalOptions = {}): Promise<Journal> {
    const { durable = true, openFile = durable ? openToAppend : openUnsynced } = options;
    let handle: AppendFile | undefined;
    try {
      handle = await openFile(file);
      // Bytes read from the file may only be in the page cache, if the last owner died before its sync.
      await handle.datasync();
      if (durable) await syncFolder(dirname(file));
      return new Journal(file, handle, end, options);
    } catch (cause) {
      await handle?.close().catch(() => {});
      throw unwritableError(file, keptSeqAt(end, options), cause);
    }
  }

  /** False after a failure: everything is refused. */
  get isHealthy(): boolean {
    return this.refusal === undefined;
  }

  /** Resolves, once these lines are on disk, to the offset after them. Appends during a sync share the next one. */
  async append(changes: readonly Change[]): Promise<number> {
    if (this.refusal !== undefined) throw this.refusal;
    // Each line by itself: all together may be longer than a text can be.
    const bytes = Buffer.concat(changes.map((change) => Buffer.from(formatJournalLine(change, this.owner))));
    const offset = this.pendingEnd.offset + bytes.length;
    this.pendingEnd = { seq: changes.at(-1)?.seq ?? this.pendingEnd.seq, offset };
    this.waiting.push(bytes);
    if (this.next === undefined) {
      this.next = this.running.then(() => this.flush());
      this.running = this.next;
    }
    await this.next;
    return offset;
  }

  /** Waits for pending writes, whether they succeed or not, and closes the file. */
  async close(): Promise<void> {
    await this.running.catch(() => {});
    await this.handle.close();
  }

  /** Closes the file at once and refuses everything. What is being written may reach the disk or not. */
  abandon(): void {
    this.refusal = unwritableError(this.file, this.keptSeq, new Error('it was abandoned'));
    this.handle.close().catch(() => {});
  }

  private async flush(): Promise<void> {
    const bytes = Buffer.concat(this.waiting);
    const { seq } = this.pendingEnd;
    this.waiting = [];
    this.next = undefined;
    try {
      this.fence();
      await writeAll(this.handle, bytes);
      await this.handle.datasync();
      this.keptSeq = seq;
    } catch (cause) {
      this.refusal = cause instanceof RaymondError ? cause : unwritableError(this.file, this.keptSeq, cause);
      throw this.refusal;
    }
  }
}

/** Mostly one write. If a full disk took only part of it, writing the rest brings up the reason. */
async function writeAll(file: AppendFile, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done);
    if (bytesWritten === 0) throw new Error('the disk takes no more');
    done += bytesWritten;
  }
}

const keptSeqAt = ({ seq }: JournalPosition, { isNew = false }: JournalOptions): number | null => (isNew ? null : seq);

function unwritableError(file: string, keptSeq: number | null, cause: unknown): RaymondError {
  if (keptSeq === null) return diskError(`${file} cannot be written`, cause, 'then try again. Nothing was started.');
  const resume = `raymond resume ${basename(dirname(file))}`;
  const next = `then continue with \`${resume}\`. The run is kept up to step ${keptSeq}; nothing was started after it.`;
  return diskError(`${file} cannot be written`, cause, next, EXIT.paused);
}

import { replaceFile } from './files.ts';
import { type SavedRun, serializeSavedRun } from './state-file.ts';

/** The longer a state file takes to write, the more rarely it is written: it may take up a twentieth of our time. */
const INTERVAL_FACTOR = 20;

export interface SnapshotOptions {
  readonly snapshotEveryMs?: number;
  readonly durable?: boolean;
}

/**
 * Keeps the state file behind a run. It is only ever behind: the journal is what counts, so a state file that could
 * not be written is tried again later, and only who asks for it right now hears about it.
 */
export class SnapshotWriter {
  private readonly file: string;
  private readonly everyMs: number;
  private latest: SavedRun;
  private writtenSeq: number;
  private lastWriteMs = 0;
  private writing: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private isAbandoned = false;
  private readonly durable: boolean;

  /** `latest` is the run as it stands, which the file may not know yet; it is written at most once in a while. */
  constructor(file: string, latest: SavedRun, isWritten: boolean, options: SnapshotOptions = {}) {
    this.file = file;
    this.everyMs = options.snapshotEveryMs ?? 1000;
    this.durable = options.durable ?? true;
    this.latest = latest;
    this.writtenSeq = isWritten ? latest.journal.seq : -1;
  }

  /** Takes note of what the journal covers by now. The file follows soon; that alone keeps no process alive. */
  update(saved: SavedRun): void {
    if (saved.journal.seq <= this.latest.journal.seq || this.isAbandoned) return;
    this.latest = saved;
    const writeLatestLater = (): void => {
      this.timer = undefined;
      this.write().catch(() => {});
    };
    this.timer ??= setTimeout(writeLatestLater, Math.max(this.everyMs, INTERVAL_FACTOR * this.lastWriteMs)).unref();
  }

  /** Writes the file now, unless it is up to date. */
  write(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.writing = this.writing.catch(() => {}).then(() => this.writeLatest());
    return this.writing;
  }

  /** Writes nothing more. */
  abandon(): void {
    this.isAbandoned = true;
    clearTimeout(this.timer);
  }

  private async writeLatest(): Promise<void> {
    const { latest } = this;
    if (latest.journal.seq === this.writtenSeq) return;
    const started = performance.now();
    await replaceFile(this.file, serializeSavedRun(latest), this.durable);
    this.lastWriteMs = performance.now() - started;
    this.writtenSeq = latest.journal.seq;
  }
}

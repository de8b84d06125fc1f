import { type ReplaceOptions, replaceFile } from './files.ts';
import type { SavedRun } from './saved-run.ts';
import { serializeSavedRun } from './serialize-run.ts';

/** Writing the state file may take up to a twentieth of the time, so a large one is written less often. */
const INTERVAL_FACTOR = 20;

/** How often and how safely the state file is written. */
export interface SnapshotOptions {
  readonly snapshotEveryMs?: number;
  readonly durable?: boolean;
}

/** Which process writes the state file, and whether it still may. */
export type SnapshotFence = Required<Pick<ReplaceOptions, 'writer' | 'mayReplace'>>;

/**
 * Writes the state file of a run from time to time. The journal is what counts: a state file that could not be written
 * is tried again later, and only a caller of `write` hears of the error.
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
  private readonly replaceOptions: ReplaceOptions;

  /** `latest` is the run as it stands, which the file already has. */
  constructor(file: string, latest: SavedRun, options: SnapshotOptions, fence: SnapshotFence) {
    this.file = file;
    this.everyMs = options.snapshotEveryMs ?? 1000;
    this.replaceOptions = { ...fence, durable: options.durable };
    this.latest = latest;
    this.writtenSeq = latest.journal.seq;
  }

  /** Notes the latest run in the journal. The file follows soon, but the timer keeps no process alive. */
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

  /** Stops writing for good. */
  abandon(): void {
    this.isAbandoned = true;
    clearTimeout(this.timer);
  }

  private async writeLatest(): Promise<void> {
    const { latest } = this;
    if (latest.journal.seq === this.writtenSeq) return;
    const started = performance.now();
    await replaceFile(this.file, serializeSavedRun(latest), this.replaceOptions);
    this.lastWriteMs = performance.now() - started;
    this.writtenSeq = latest.journal.seq;
  }
}

import { monotonicMs } from '../process/clock.ts';
import { type SavedRun, serializeSavedRun } from './run-file.ts';

/** Writing the state file may take up to a twentieth of the time, so a large one is written less often. */
const INTERVAL_FACTOR = 20;

/** How often and how safely the state file is written. */
export interface SnapshotOptions {
  readonly snapshotEveryMs?: number;
  readonly durable?: boolean;
}

/** Puts the text of a state file in its place, if it still may. */
export type PutSnapshot = (text: string, saved: SavedRun) => Promise<void>;

/**
 * Writes the state file of a run from time to time. The journal is what counts: a state file that could not be written
 * is tried again later, and only a caller of `write` hears of the error.
 */
export class SnapshotWriter {
  private readonly put: PutSnapshot;
  private readonly everyMs: number;
  private latest: SavedRun;
  private writtenSeq: number;
  private lastWriteMs = 0;
  private writing: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private isAbandoned = false;

  /** `latest` is the run as it stands, which the file already has. */
  constructor(put: PutSnapshot, latest: SavedRun, { snapshotEveryMs = 1000 }: SnapshotOptions) {
    this.put = put;
    this.everyMs = snapshotEveryMs;
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
    const started = monotonicMs();
    await this.put(serializeSavedRun(latest), latest);
    this.lastWriteMs = monotonicMs() - started;
    this.writtenSeq = latest.journal.seq;
  }
}

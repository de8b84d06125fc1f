import { type RunStep, readSteps } from '../app/run-files.ts';
import type { RunStorage } from '../storage/storage.ts';

/** How long a reader waits for the request of the next page. */
const KEPT_MS = 10_000;
const MAX_READERS = 20;

interface Reader {
  readonly steps: AsyncGenerator<RunStep>;
  /** Read already, to know that there is more. */
  readonly next: RunStep;
  readonly timer: NodeJS.Timeout;
}

/** Reads journals page by page. Who asks for page after page continues where the last one ended: a long journal is read once. */
export class JournalPages {
  private readonly readers = new Map<string, Reader>();

  /** The steps of a run after a step, at most so many, and whether there are more. */
  async read(
    run: ServedRun,
    after: number,
    limit: number,
  ): Promise<{ readonly steps: readonly RunStep[]; readonly more: boolean }> {
    const known = this.take(keyOf(run, after));
    const source = known?.steps ?? readSteps(run.id, run.storage, after);
    const steps: RunStep[] = known === undefined ? [] : [known.next];
    try {
      for (;;) {
        const { done, value } = await source.next();
        if (done) return { steps, more: false };
        if (steps.length === limit) {
          this.keep(keyOf(run, steps.at(-1)?.seq ?? after), source, value);
          return { steps, more: true };
        }
        steps.push(value);
      }
    } catch (error) {
      await source.return(undefined);
      throw error;
    }
  }

  private take(key: string): Reader | undefined {
    const reader = this.readers.get(key);
    if (reader === undefined) return undefined;
    clearTimeout(reader.timer);
    this.readers.delete(key);
    return reader;
  }

  private keep(key: string, steps: AsyncGenerator<RunStep>, next: RunStep): void {
    const [oldest] = this.readers.keys();
    if (this.readers.has(key)) this.drop(key);
    else if (oldest !== undefined && this.readers.size >= MAX_READERS) this.drop(oldest);
    const timer = setTimeout(() => this.drop(key), KEPT_MS);
    timer.unref();
    this.readers.set(key, { steps, next, timer });
  }

  private drop(key: string): void {
    this.take(key)
      ?.steps.return(undefined)
      .catch(() => {});
  }
}

const keyOf = (run: ServedRun, after: number): string => `${keyOfRun(run)}\0${after}`;

/** A run that a server shows. */
export interface ServedRun {
  readonly id: string;
  readonly storage: RunStorage;
}

/** A text that tells a run from all others of a server. */
export const keyOfRun = ({ id, storage }: ServedRun): string => `${storage.name}\0${id}`;

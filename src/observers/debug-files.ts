import { appendFile, link, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Event, TurnEnded } from '../core/event.ts';
import { isPrompt, stem } from '../core/names.ts';
import { TransitionsLog } from './transitions-log.ts';

/** Where a run's debug files go, and where its turns keep theirs. */
export interface DebugPlaces {
  readonly folder: string;
  readonly turnFolder: (turn: { agent: string; number: number; state: string }) => string;
}

/**
 * Keeps a readable history beside the record: each turn's raw output under a plain name, and `transitions.log`. It works
 * behind the run, in order, and can never fail it: the first trouble is told once, and that is all.
 */
export class DebugFiles {
  private readonly places: DebugPlaces;
  private readonly log: TransitionsLog;
  private readonly warn: (message: string) => void;
  private work: Promise<unknown>;
  private troubled = false;

  constructor(places: DebugPlaces, spentMicros: number, warn: (message: string) => void) {
    this.places = places;
    this.log = new TransitionsLog(spentMicros);
    this.warn = warn;
    this.work = this.attempt(() => mkdir(places.folder, { recursive: true, mode: 0o700 }));
  }

  tell(events: readonly Event[]): void {
    const entries = events.map((event) => this.log.entryOf(event) ?? '').join('');
    const ended = events.filter((event) => event.kind === 'turn_ended');
    if (entries === '' && ended.length === 0) return;
    this.work = this.work.then(async () => {
      for (const event of ended) await this.attempt(() => this.keep(event));
      const file = join(this.places.folder, 'transitions.log');
      if (entries !== '') await this.attempt(() => appendFile(file, entries, { mode: 0o600 }));
    });
  }

  /** Resolves once everything told so far is written. */
  async close(): Promise<void> {
    await this.work;
  }

  /** Hard links cost no space; the turn's own files may go later without taking these away. */
  private async keep({ agent, state, turn: number }: TurnEnded): Promise<void> {
    const folder = this.places.turnFolder({ agent, number, state });
    const name = `${agent}_${stem(state)}_${String(number).padStart(3, '0')}`;
    await link(join(folder, 'stdout'), join(this.places.folder, `${name}.${isPrompt(state) ? 'jsonl' : 'txt'}`));
  }

  private async attempt(act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (this.troubled || isExpected(error)) return;
      this.troubled = true;
      this.warn(`debug files cannot be written: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

/** A turn that never started has no output, and after a crash a link may be there already. */
const isExpected = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'EEXIST');

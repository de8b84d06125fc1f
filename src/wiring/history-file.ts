import type { AppliedStep } from '../core/run/change.ts';
import type { Run } from '../core/run/run.ts';
import { replaceUnsynced } from '../disk/files.ts';
import type { FolderLayout } from '../disk/layout.ts';
import { tryParseJson } from '../language/text/json.ts';
import { monotonicMs } from '../process/clock.ts';
import { HistoryCollector, type HistoryData } from '../render/run-history.ts';
import { createFileJournal } from '../storage/files/journal.ts';
import { addStateChecksum, checkState, type JournalPosition } from '../storage/run-file.ts';
import type { JournalReader, RunLease } from '../storage/storage.ts';

/*
 * The history of a run is what its events say. Reading all of them takes seconds in a long run, so the process that drives the
 * run writes a summary from time to time, and readers of the history read only the events after it. The journal
 * stays the truth: a summary that is missing, damaged, of another format or does not fit the journal is not used.
 */

/** To be raised with each change of `HistoryData`. */
const FORMAT = 3;
/** How many of the latest transitions a status shows. */
export const MAX_TRANSITIONS = 10;
const WRITE_EVERY_MS = 5_000;
/** Writing may take up to a twentieth of the time. */
const INTERVAL_FACTOR = 20;

interface HistorySummary {
  readonly format: typeof FORMAT;
  readonly end: JournalPosition;
  readonly history: HistoryData;
}

/** Collects the history of a run up to a step: from the summary, if there is one that fits, and the events after it. */
export async function loadHistory(journal: JournalReader, id: string, upToSeq: number): Promise<HistoryCollector> {
  const summary = await readSummary(journal, id);
  const isUsable = summary !== undefined && summary.end.seq <= upToSeq;
  const collector = new HistoryCollector(MAX_TRANSITIONS, isUsable ? summary.history : undefined);
  for await (const { seq, change } of journal.read(id, isUsable ? summary.end : undefined)) {
    if (seq > upToSeq) break;
    for (const event of change.events) collector.observe(event);
  }
  return collector;
}

/** Reads the summary of a run, unless a part of the journal that it sums up has been lost since. */
async function readSummary(journal: JournalReader, id: string): Promise<HistorySummary | undefined> {
  try {
    const text = (await journal.readSummary(id)) ?? '';
    const summary = checkState(text) === 'right' ? (tryParseJson(text) as HistorySummary | undefined) : undefined;
    return summary?.format === FORMAT && (await journal.has(id, summary.end)) ? summary : undefined;
  } catch {
    return undefined;
  }
}

/** Writes the summary of a run while this process drives it. A summary that cannot be written does no harm. */
export class HistoryFile {
  private readonly file: string;
  private readonly lease: Pick<RunLease, 'journalEnd'>;
  private readonly collector: HistoryCollector;
  private run: Run;
  private nextWriteMs: number;
  private isChanged = true;

  private constructor(file: string, lease: Pick<RunLease, 'journalEnd'>, run: Run, collector: HistoryCollector) {
    this.file = file;
    this.lease = lease;
    this.run = run;
    this.collector = collector;
    // The events of a new run are soon read, and many runs are short.
    this.nextWriteMs = run.seq === 0 ? monotonicMs() + WRITE_EVERY_MS : 0;
  }

  /** Continues the history of a run; null if it cannot be read, because the journal is damaged, or none is kept. */
  static async open(layout: FolderLayout, run: Run, lease: Pick<RunLease, 'journalEnd'>): Promise<HistoryFile | null> {
    if (lease.journalEnd === null) return null;
    const collector = await loadHistory(createFileJournal(layout), run.id, run.seq).catch(() => null);
    return collector && new HistoryFile(layout.historyFile(run.id), lease, run, collector);
  }

  /** Adds steps that are on disk; `journalEnd` of the lease is after the last of them. */
  add(steps: readonly AppliedStep[]): void {
    for (const { step } of steps) for (const event of step.events) this.collector.observe(event);
    this.run = steps.at(-1)?.step.run ?? this.run;
    this.isChanged = true;
    if (monotonicMs() >= this.nextWriteMs) this.write();
  }

  /** Brings the file up to date. */
  write(): void {
    const { journalEnd: end } = this.lease;
    if (!this.isChanged || end === null) return;
    this.isChanged = false;
    const started = monotonicMs();
    this.collector.retainAgents(new Set(this.run.agents.map(({ id }) => id)));
    const summary: HistorySummary = { format: FORMAT, end, history: this.collector.toData() };
    try {
      replaceUnsynced(this.file, addStateChecksum(JSON.stringify(summary, null, 2)));
    } catch {}
    const ended = monotonicMs();
    this.nextWriteMs = ended + Math.max(WRITE_EVERY_MS, INTERVAL_FACTOR * (ended - started));
  }
}

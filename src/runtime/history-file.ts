import { readFileSync } from 'node:fs';
import type { AppliedStep } from '../core/event.ts';
import { tryParseJson } from '../core/json.ts';
import type { Run } from '../core/run.ts';
import { HistoryCollector, type HistoryData } from '../events/run-history.ts';
import { addStateChecksum, checkState } from '../store/checksum.ts';
import { replaceUnsynced } from '../store/files.ts';
import { readEvents } from '../store/journal-events.ts';
import { isLineStart, parseEntry, readJournalLines } from '../store/journal-lines.ts';
import type { StoreLayout } from '../store/layout.ts';
import type { JournalCoverage, JournalEnd } from '../store/saved-run.ts';
import type { RunStore } from '../store/store.ts';

/*
 * The history of a run is what its events say. Reading all of them takes seconds in a long run, so the process that drives the
 * run writes a summary from time to time, and whoever wants to know the history reads only the events after it. The journal
 * stays the truth: a summary that is missing, damaged, of another format or does not fit the journal is not used.
 */

/** To be raised with each change of `HistoryData`. */
const FORMAT = 2;
/** How many of the latest transitions a status shows. */
export const MAX_TRANSITIONS = 10;
const WRITE_EVERY_MS = 5_000;
/** Writing may take up to a twentieth of the time. */
const INTERVAL_FACTOR = 20;

interface HistorySummary {
  readonly format: typeof FORMAT;
  /** A summary of an earlier Raymond does not say from where on lines have checksums. */
  readonly end: JournalEnd & Partial<JournalCoverage>;
  readonly history: HistoryData;
}

/**
 * Collects the history of a run up to a step: from the summary, if there is one, and the events after it. Whoever knows from
 * where on lines have checksums saves reading the state file for it.
 */
export async function loadHistory(
  layout: StoreLayout,
  id: string,
  upToSeq: number,
  known: Partial<Pick<JournalCoverage, 'checkedFrom'>> = {},
): Promise<HistoryCollector> {
  const summary = await readSummary(layout, id);
  const isUsable = summary !== undefined && summary.end.seq <= upToSeq;
  const collector = new HistoryCollector(MAX_TRANSITIONS, isUsable ? summary.history : undefined);
  for await (const { seq, event } of readEvents(layout, id, { ...(isUsable && summary.end), ...known })) {
    if (seq > upToSeq) break;
    collector.observe(event);
  }
  return collector;
}

async function readSummary(layout: StoreLayout, id: string): Promise<HistorySummary | undefined> {
  try {
    const text = readFileSync(layout.historyFile(id), 'utf8');
    const summary = checkState(text) === 'right' ? (tryParseJson(text) as HistorySummary | undefined) : undefined;
    if (summary?.format !== FORMAT) return undefined;
    return (await isFollowedBy(layout.journalFile(id), summary.end)) ? summary : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a journal ends or goes on there with the next step: a part of it may have been lost since. */
async function isFollowedBy(file: string, { offset, seq }: JournalEnd): Promise<boolean> {
  if (!(await isLineStart(file, offset))) return false;
  for await (const [line] of readJournalLines(file, offset)) {
    if (line === undefined) continue;
    const entry = parseEntry(line, true);
    return entry === undefined || (typeof entry === 'object' && entry.change.seq === seq + 1);
  }
  return true;
}

/** Writes the summary of a run while this process drives it. A summary that cannot be written does no harm. */
export class HistoryFile {
  private readonly file: string;
  private readonly store: RunStore;
  private readonly collector: HistoryCollector;
  private run: Run;
  private nextWriteMs: number;
  private isChanged = true;

  private constructor(file: string, store: RunStore, run: Run, collector: HistoryCollector) {
    this.file = file;
    this.store = store;
    this.run = run;
    this.collector = collector;
    // The events of a new run are soon read, and many runs are short.
    this.nextWriteMs = run.seq === 0 ? performance.now() + WRITE_EVERY_MS : 0;
  }

  /** Goes on with the history of a run; null if it cannot be read, because the journal is damaged. */
  static async open(layout: StoreLayout, run: Run, store: RunStore): Promise<HistoryFile | null> {
    const { checkedFrom } = store.journalEnd;
    const collector = await loadHistory(layout, run.id, run.seq, { checkedFrom }).catch(() => null);
    return collector && new HistoryFile(layout.historyFile(run.id), store, run, collector);
  }

  /** Adds steps that are on disk; `journalEnd` of the store is after the last of them. */
  add(steps: readonly AppliedStep[]): void {
    for (const { step } of steps) for (const event of step.events) this.collector.observe(event);
    this.run = steps.at(-1)?.step.run ?? this.run;
    this.isChanged = true;
    if (performance.now() >= this.nextWriteMs) this.write();
  }

  /** Brings the file up to date. */
  write(): void {
    if (!this.isChanged) return;
    this.isChanged = false;
    const started = performance.now();
    this.collector.retainAgents(new Set(this.run.agents.map(({ id }) => id)));
    const summary: HistorySummary = { format: FORMAT, end: this.store.journalEnd, history: this.collector.toData() };
    try {
      replaceUnsynced(this.file, addStateChecksum(JSON.stringify(summary, null, 2)));
    } catch {}
    const ended = performance.now();
    this.nextWriteMs = ended + Math.max(WRITE_EVERY_MS, INTERVAL_FACTOR * (ended - started));
  }
}

import type { AppliedStep, Change } from '../core/run/change.ts';
import type { Event } from '../core/run/event.ts';
import type { Run } from '../core/run/run.ts';
import type { TurnRef } from '../core/turns/due.ts';
import type { Clock } from '../process/clock.ts';
import type { FoundRequest, InboxRequest, PendingRequest, RequestOutcome } from './requests.ts';
import type { JournalCoverage, JournalPosition } from './run-file.ts';
import type { HalfRemovedRuns, ObservedRun, RunSummary, RunUsage, UnreadableRun } from './run-summary.ts';

/*
 * The storage port. Runs are kept in the files of a folder or in a database; everything else works with these interfaces. What anyone
 * may do is on the storage; what only the process that drives a run may do is on its lease.
 */

/** A place where runs are kept. */
export interface RunStorage {
  /** The name of the place in messages. */
  readonly name: string;
  /** The clock that judges all deadlines of these runs. */
  readonly clock: Clock;
  readonly runs: RunCatalog;
  readonly journal: JournalReader;
  readonly inbox: RunInbox;
  readonly blobs: Blobs;
  readonly output: TurnOutput;
  close(): Promise<void>;
}

/** Finds, observes and removes runs. */
export interface RunCatalog {
  /** Finds the run that a user refers to by its id, a unique prefix of it, or `last`. */
  resolve(reference: string): Promise<string>;
  /** Lists all runs, the latest first; with `journals`, checks their journals for damage, too. */
  list(depth: 'summaries' | 'journals'): Promise<readonly (RunSummary | UnreadableRun)[]>;
  /** Observes a run that another process may be driving, without changing anything; with `journals`, checks its journal for damage, too. */
  observe(run: string, depth?: 'summaries' | 'journals'): Promise<ObservedRun>;
  /** True while a process drives the run, or may. Cheap: it is polled. */
  isDriven(run: string): Promise<boolean>;
  /** Makes the workflow of a run readable; `root` is the folder outside of which it calls none, if that is not the one of its options. */
  findWorkflow(run: Run): Promise<{ readonly path: string; readonly root?: string }>;
  measure(run: string): Promise<RunUsage>;
  /** Removes a run for good; refuses one that is driven. */
  remove(run: string): Promise<void>;
  /** Finds the runs whose removal was cut short. */
  findHalfRemoved(): Promise<HalfRemovedRuns>;
}

/** A step of a journal as it was saved, upgraded to the current version, and the position after it. */
export interface JournaledStep extends JournalPosition {
  readonly change: Change;
}

/** The position before the first step. */
export const JOURNAL_START: JournalPosition = { seq: -1, offset: 0 };

/** The position after a step of which only the number is known: reading may have to look for it. */
export const afterStep = (seq: number): JournalPosition => ({ seq, offset: 0 });

/** Reads the steps of runs. */
export interface JournalReader {
  /** Reads the steps so far, in order. */
  read(run: string, after?: JournalPosition): AsyncIterable<JournaledStep>;
  /** Reads the steps so far, the latest first. */
  readBackwards(run: string): AsyncIterable<JournaledStep>;
  /** Reads the steps so far and then each new one, until `stop`; those that are there by then are still read. */
  follow(run: string, after: JournalPosition, stop: AbortSignal): AsyncIterable<JournaledStep>;
  /** True if the journal has a step that ends at this position: then what was derived up to there is still valid. */
  has(run: string, at: JournalPosition): Promise<boolean>;
  /** Reads the summary that the driver of a run last wrote of its journal: unchecked, and maybe outdated. Null if there is none. */
  readSummary(run: string): Promise<string | null>;
}

/** The requests of runs: pending, then settled once the journal has them. They are kept with the run. */
export interface RunInbox {
  /** Adds a request; it is durable when this resolves. False if its id is used already. */
  put(run: string, request: InboxRequest): Promise<boolean>;
  /** Finds a request, pending or settled; null if there is none of this id. */
  find(run: string, id: string): Promise<FoundRequest | null>;
  /** Takes a request back; false if it is settled already. */
  withdraw(run: string, id: string): Promise<boolean>;
}

/** A turn by its agent and its number. */
export type TurnName = Pick<TurnRef, 'agent' | 'number'>;

/** The streams of a turn that are kept: its prompt, and its output. */
export const TURN_STREAMS = ['stdin', 'stdout', 'stderr'] as const;

/** One of the streams of a turn. */
export type TurnStream = (typeof TURN_STREAMS)[number];

/** Bytes of a stream, and the number of those before them. A jump of `offset` is a gap, after which a line begins, or a stream that was emptied. */
export interface OutputChunk {
  readonly offset: number;
  readonly bytes: Buffer;
}

/** The streams of turns, while they run and afterwards. A turn is found faster if its state is known, too. */
export interface TurnOutput {
  /** Reads a stream as far as it has come; with `until`, follows it until that settles. A prompt is over as soon as it is there. */
  read(run: string, turn: TurnName | TurnRef, stream: TurnStream, until?: Promise<unknown>): AsyncIterable<OutputChunk>;
  /** The lengths of the streams that exist. */
  sizes(run: string, turn: TurnName | TurnRef): Promise<Readonly<Partial<Record<TurnStream, number>>>>;
  /** The folder with the files of a turn, for people and for its exit status; null if they are not on this machine. */
  findFolder(run: string, turn: TurnRef): string | null;
  /** Publishes the files of a running turn to other machines until the returned function is called; `keep` keeps them for `logs`. */
  publish(run: string, turn: TurnRef, folder: string): (keep: boolean) => Promise<void>;
}

/** The process that writes a blob: one that holds the lease of a run, or the guest that runs a turn of it. */
export interface Writer {
  readonly node: string | null;
  readonly epoch: number | null;
  readonly turn: TurnName | null;
}

/** Byte strings by key: `workflow/HASH`, and `run/ID/` with `conversation/SESSION`, `upload/ID/NAME`, `turn/AGENT/NUMBER`. */
export interface Blobs {
  /** True if other machines read them. */
  readonly isShared: boolean;
  /** Stores bytes under a key; false if the writer has lost the run. */
  put(key: string, bytes: Uint8Array, by: Writer): Promise<boolean>;
  get(key: string): Promise<{ readonly bytes: Uint8Array; readonly node: string | null } | null>;
  /** Removes all keys that begin with this. */
  remove(prefix: string): Promise<void>;
}

/** A run that is about to be created. */
export interface NewRun {
  readonly run: Run;
  readonly events: readonly Event[];
}

/** How to acquire a run. */
export interface AcquireOptions {
  /** Takes the run from an owner that cannot be checked from here. */
  readonly takeOver?: boolean;
  /** Accepts a journal that has lost lines which the snapshot includes. */
  readonly acceptLoss?: boolean;
  /** Acquires only if the run has not been assigned to another node since. */
  readonly move?: number;
}

/** Gives runs to processes: one at a time holds the lease of a run. */
export interface Leases {
  create(run: NewRun): Promise<RunLease>;
  acquire(run: string, options?: AcquireOptions): Promise<RunLease>;
}

/** The right to drive a run. */
export interface RunLease extends Writer {
  /** The run as it was acquired. */
  readonly run: Run;
  /** Sentences about damage that had to be repaired. */
  readonly damage: readonly string[];
  /** The text in the markers of the run's processes, the same under whatever path the run is found. */
  readonly mark: string;
  /** Counts starts and resumes. */
  readonly generation: number;
  /** Names this lease: requests to stop are addressed to it. */
  readonly leaseId: string;
  /** Aborted when another process has the run, with the error for it. */
  readonly lost: AbortSignal;
  /** A descriptor that the processes of turns inherit, so that other containers can tell whether one lives. */
  readonly presence: number | null;
  /** Resolves once these steps are durable; throws a LeaseLostError if another process has the run. After a failure it refuses everything. */
  append(steps: readonly AppliedStep[]): Promise<void>;
  /** The end of the journal after the last append, for a summary of the history next to it; null where none is kept. */
  readonly journalEnd: JournalCoverage | null;
  /** Brings the snapshot up to date. */
  snapshot(): Promise<void>;
  /** Throws a LeaseLostError if another process may have the run. Called before each start of a process. */
  confirm(): Promise<void>;
  /** True if the machine went down while this turn was on record, so that traces of it may have been lost. */
  isDoubtful(turn: TurnName): boolean;
  /** The requests that are not settled, the oldest first. Cheap: it is polled. */
  pending(): readonly PendingRequest[];
  /** Settles a request whose outcome is in the journal. */
  settle(id: string, outcome: RequestOutcome): void;
  /** Brings the snapshot up to date and gives the run up. */
  release(): Promise<void>;
  /** Gives everything up without saving, as if this process had been killed. */
  abandon(): void;
}

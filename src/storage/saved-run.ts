import type { Run } from '../core/run/run.ts';

/** A position in a journal: a step, and the byte offset after its line. */
export interface JournalPosition {
  readonly seq: number;
  readonly offset: number;
}

/** A position in a journal, and how to read on from there. */
export interface JournalEnd extends JournalPosition {
  /** The highest number of an owner up to here: a later line of a lower one does not count. */
  readonly owner: number;
}

/** The part of the journal that a state file includes, and how to read the rest. */
export interface JournalCoverage extends JournalEnd {
  /** The byte offset from which on every line has a checksum; null if none has. */
  readonly checkedFrom: number | null;
}

/** A turn that was on record when the machine went down: what its folder lacks may have been lost. */
export interface DoubtfulTurn {
  readonly agent: string;
  readonly turn: number;
}

/** The content of a state file: a run, the part of the journal up to which it is complete, and facts about its processes. */
export interface SavedRun {
  readonly run: Run;
  readonly journal: JournalCoverage;
  /** The text in the markers of the run's processes, wherever its folder is; null before version 2. */
  readonly mark: string | null;
  /** The boot of the machine during which all turns on record began, but for the doubtful ones; null if unknown. */
  readonly bootId: string | null;
  readonly doubtful: readonly DoubtfulTurn[];
}

/** How a run began, in the first line of its journal: with the rest of the journal it is enough to rebuild the run. */
export type RunStart = Pick<SavedRun, 'run' | 'mark' | 'bootId'>;

/** Why a run had to be rebuilt from its journal. */
export type RunFileProblem = 'missing' | 'damaged';

/** A run as it was loaded. */
export interface LoadedRun extends SavedRun {
  /** The problem of the run file; null if it is whole. */
  readonly stateFileProblem: RunFileProblem | null;
}

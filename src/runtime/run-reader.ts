import type { Agent } from '../core/agent.ts';
import type { AskAnswer } from '../core/ask.ts';
import type { TurnRef } from '../core/due.ts';
import type { Event } from '../core/event.ts';
import type { Run } from '../core/run.ts';
import type { HistoryCollector } from '../events/run-history.ts';
import type { FileWatch } from '../process/watch.ts';
import type { Uploads } from '../store/answer-file.ts';
import type { EventsStart, JournaledEvent } from '../store/journal-events.ts';
import type { ObservedRun } from '../store/observed-run.ts';
import type { QuestionEnd } from '../store/question-end.ts';
import type { RunSummary, UnreadableRun } from '../store/runs.ts';
import type { WordRequest } from '../store/word-request.ts';

/** A place where runs are kept, for those who look at runs and make requests: the files of a folder, or a database. */
export interface RunReader {
  /** Finds the run that a user refers to by its id, a unique prefix of it, or `last`. */
  resolveRunId(reference: string): Promise<string>;
  /** Lists all runs, the latest first; if that is to be checked, with what of their journals is damaged. */
  listRuns(checksJournals: boolean): Promise<readonly (RunSummary | UnreadableRun)[]>;
  /** Observes a run that another process may be driving, without changing anything. */
  observeRun(id: string): Promise<ObservedRun>;
  /** Looks for damage of a run that reading it does not show: sentences. */
  findDamage(observed: ObservedRun): Promise<readonly string[]>;
  /** Reads the events of a run so far, in order. */
  readEvents(id: string, from?: EventsStart): AsyncGenerator<JournaledEvent>;
  /** Finds where the end of a run's events begins, from the last to the first, where `isEnough` is content; left out where that is no faster. */
  findTail?(id: string, isEnough: (event: Event) => boolean | Promise<boolean>): Promise<number>;
  /** Collects the history of a run up to a step. */
  loadHistory(id: string, upToSeq: number): Promise<HistoryCollector>;
  /** Reads the agents that a run has archived up to this step. */
  readArchivedAgents(id: string, upToSeq: number): Promise<readonly Agent[]>;
  /** Counts the processes of Claude Code that the run keeps open for several turns, as far as they can be seen. */
  countOpenConversations(id: string): number;
  /** Where to begin to read the events after a step: what is surely before it can be skipped. */
  findStart(id: string, after: number): Promise<EventsStart>;
  /** Waits for something new in a run. */
  watch(id: string): FileWatch;
  /** Whether a process drives the run, or may. */
  isDriven(id: string): Promise<boolean>;
  /** The folder with the files of a turn; it need not exist. */
  turnFolder(id: string, turn: TurnRef): Promise<string>;
  /** The folder with the files of a turn whose end is not known, as far as it has come; it need not exist. */
  openTurnFolder(id: string, turn: TurnRef): Promise<string>;
  /**
   * The folder with the files of a turn that runs, once its prompt is there or `until` settles. They grow as the turn goes on, as long
   * as somebody waits with `watch`, and are complete when its end is read.
   */
  liveTurnFolder(id: string, turn: TurnRef, until: Promise<unknown>): Promise<string>;
  /** The folder with the files of a turn whose state is not known; null if there are none. */
  findTurnFolder(id: string, turn: Pick<TurnRef, 'agent' | 'number'>): Promise<string | null>;
  /** The workflow of a run where it can be read, and the folder outside of which it calls none, if that is not the one of its options. */
  findWorkflow(run: Run): Promise<{ readonly path: string; readonly root?: string }>;
  /** Reads how a question ended; undefined if it has not. */
  readQuestionEnd(id: string, ask: string): Promise<QuestionEnd | undefined>;
  /** Answers a question. False if it has ended before. */
  answer(id: string, answer: Omit<AskAnswer, 'files'>, uploads: Uploads): Promise<boolean>;
  /** Puts what a person says to an agent where the run finds it. It is safe there when this resolves. */
  addWords(id: string, words: WordRequest): Promise<WaitingWords>;
}

/** What a person has said, until the run has it in its journal. */
export interface WaitingWords {
  /** Whether nobody has taken it up yet. */
  isThere(): Promise<boolean>;
  /** Takes it back. */
  remove(): Promise<void>;
}

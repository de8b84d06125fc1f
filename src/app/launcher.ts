import type { RunStorage } from '../storage/storage.ts';
import type { RunHandle } from '../wiring/run-handle.ts';
import type { RerunRequest } from './rerun/rerun-request.ts';
import type { ResumeRequest } from './resume.ts';
import type { RunRequest } from './start.ts';
import type { StopOutcome, StopRequest } from './stop.ts';
import type { WorktreePool } from './worktrees/worktree-pool.ts';

/** Hears of what is not part of a run, such as a database that cannot be reached. */
export interface WithWarnings {
  readonly warn?: (sentence: string) => void;
}

/** How to start a run. */
export interface LaunchRequest extends RunRequest, WithWarnings {
  /** The labels that its node must have. */
  readonly labels: readonly string[];
}

/** A machine that runs turns of a database's runs, as the others see it. */
export interface NodeInfo {
  readonly name: string;
  readonly host: string;
  /** `draining` finishes its turns and takes nothing new; `stopped` has ended in order, `gone` has not. */
  readonly status: 'alive' | 'draining' | 'stopped' | 'gone';
  readonly labels: readonly string[];
  /** How many prompts it runs at once. */
  readonly slots: number;
  /** The prompts that it runs, and those that wait for one of its slots. */
  readonly running: number;
  readonly queued: number;
  /** The runs that it drives. */
  readonly runs: number;
  /** The time since its last heartbeat, by the clock of the database. */
  readonly silentMs: number;
}

/** Where the snapshots of runs are. */
export interface SnapshotFiles {
  readonly repository: string;
  listOf(run: string): string;
  readonly env: NodeJS.ProcessEnv;
}

/** Starts, resumes and stops runs: a process here takes their turns, or the nodes of a database do. */
export interface Launcher {
  /** True if the process that starts a run takes its turns: then its paths are paths of this machine, and what it has stored needs the user's trust. */
  readonly isLocal: boolean;
  /** The flag of a command that starts or resumes a run in the background, in the same storage. */
  readonly detachFlag: '--no-database' | '--detach';
  start(path: string, request: LaunchRequest): Promise<RunHandle>;
  resume(run: string, request: ResumeRequest & WithWarnings): Promise<RunHandle>;
  /** Starts a new run that begins right before a turn of another one. */
  rerun(run: string, request: RerunRequest & WithWarnings): Promise<RunHandle>;
  stop(run: string, request: StopRequest): Promise<StopOutcome>;
  /** Finds the runs that have lost their process, which only a person resumes. */
  findCrashed(): Promise<readonly string[]>;
  readonly worktrees: WorktreePool;
  /** The snapshots of working folders; null where none are taken. */
  readonly snapshots: SnapshotFiles | null;
  /** Lists the machines that take turns for others, by name. */
  listNodes(): Promise<readonly NodeInfo[]>;
}

/** Runs, and the launcher for them. */
export interface RunPlace {
  readonly storage: RunStorage;
  readonly launcher: Launcher;
}

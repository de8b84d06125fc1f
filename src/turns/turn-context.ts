import type { IdleLimit } from '../conversations/idle-limit.ts';
import type { Options } from '../core/options/options.ts';
import type { Activity } from '../core/run/activity.ts';
import type { Printed } from '../core/run/event.ts';
import type { Quota } from '../core/run/quota.ts';
import type { Said } from '../core/run/said.ts';
import type { FolderSnapshot } from '../core/run/snapshot.ts';
import type { PromptTurn, ScriptTurn, TurnRef } from '../core/turns/due.ts';
import type { NamedWorkflows } from '../language/named-workflows.ts';
import type { PinnedCode } from '../language/pinned-code.ts';
import type { State } from '../language/state.ts';
import type { Scope } from '../language/state-names.ts';
import type { Clock } from '../process/clock.ts';
import type { Environment, ProcessCommand } from '../process/command.ts';
import type { CommandStarter } from '../process/ready-wrapper.ts';
import type { SandboxRequest } from '../process/sandbox.ts';
import type { OpenQuestions } from './open-questions.ts';
import type { TurnEndings } from './turn-endings.ts';

/** Takes what turns hear of the quota, and gives what other runs have heard. */
export interface QuotaExchange {
  report(windows: Quota['windows']): void;
  /** The news since the last call; undefined for none. */
  news(): Promise<Quota | undefined>;
}

/** The files of a conversation, by their paths beside its own. */
export type ConversationFiles = Readonly<Record<string, Uint8Array>>;

/** Copies of conversations, with which they continue on another machine. */
export interface ConversationCopies {
  /** Stores a conversation after a turn; null if it is too long for that. It never throws. */
  store(turn: TurnRef, session: string, files: ConversationFiles | null): Promise<void>;
  /** A conversation that another machine had last; null if this one had it, or if there is no copy. */
  fetch(session: string): Promise<ConversationFiles | null>;
}

/** A turn, as far as it decides which code it uses. */
export type CodeUse = Pick<PromptTurn | ScriptTurn, 'kind' | 'code'>;

/** A workflow on disk: a folder with the names of its files, or one file. */
export interface WorkflowPlace {
  readonly path: string;
  /** Null for a zip or a one-file workflow. */
  readonly files: readonly string[] | null;
}

/** Puts the commands of turns into sandboxes. */
export interface TurnSandboxes {
  /** Throws a RaymondError that says what to do if a turn could not have its sandbox. */
  check(cwd: string, agent: string): Promise<void>;
  /** The command that runs a command in its sandbox. */
  confine(command: ProcessCommand, request: SandboxRequest): Promise<ProcessCommand>;
  /** The hosts that the turns of an agent have asked for and not got, since this was last asked. */
  takeRefused(agent: string): readonly string[];
}

/** Everything that the turns of one run share. It hides the workflow and the disk behind functions. */
export interface TurnContext {
  readonly runId: string;
  /** The beginning of the marker that all processes of the run carry; no other run has it. */
  readonly runMarker: string;
  readonly options: Options;
  /** The worker of a fleet that this is; left out or null for runs in files. */
  readonly home?: string | null;
  /** True if another worker drives the run, and decides which conversations it has. */
  readonly isGuest?: boolean;
  /** The folder that the run was started in. */
  readonly startFolder: string;
  /** When the run was started: what is younger may be made by its agents. */
  readonly startedAt: number;
  /** The folders of the workflows of the run; zips and one-file workflows have none. */
  workflowFolders(): readonly string[];
  /** The workflows of the run as they are on disk. */
  workflowPlaces(): readonly WorkflowPlace[];
  /** Raymond's own files, and the folders among them that agents may write to. */
  readonly ownFiles: { readonly root: string; readonly writable: readonly string[] };
  /** The environment of the run's own workflow. */
  readonly env: Environment;
  /** The environment that scripts and Claude Code inherit in a state. */
  environmentOf(state: string): Environment;
  readonly clock: Clock;
  /** The questions of the run that wait for an answer. */
  readonly openQuestions: OpenQuestions;
  /** Aborted when the run is to stop: sleeping agents are woken. */
  readonly stopSignal: AbortSignal;
  /** Says which of the running turns are to be ended. */
  readonly endings: TurnEndings;
  /** Called with what agents are doing; undefined when nobody watches, and then nothing is to be spent on it. */
  readonly onActivity: ((activity: Activity) => void) | undefined;
  /** Called when a turn waits to ask an API again that has failed, if `onActivity` is not there. */
  readonly onRetry?: ((activity: Activity) => void) | undefined;
  /** Called with each text of a `<print>` at once; the event itself comes at the turn's end. Undefined when nobody watches. */
  readonly onPrint?: ((printed: Printed) => void) | undefined;
  /** Limits the processes without a turn of all runs of this process; left out where each run has its own limit only. */
  readonly idleLimit?: IdleLimit;
  /** Says something to the agent of a turn in the place of a person, for its next prompt. */
  say(turn: TurnRef, words: Pick<Said, 'id' | 'text'>): void;
  /** Reports that a turn has got what was said to its agent. */
  hear(turn: TurnRef, said: string): void;
  /** The exchange for quota reports of turns; left out where nobody needs it. */
  readonly quota?: QuotaExchange;
  /** Puts commands into sandboxes; left out where no turn has one. */
  readonly sandboxes?: TurnSandboxes;
  /** Called right before a process is started; throws if the run belongs to another process by now. */
  readonly beforeStart?: () => Promise<void>;
  /** Left out where conversations stay on their machine. */
  readonly copies?: ConversationCopies;
  /** Tells the author about something odd in a turn that continues. */
  warn(turn: TurnRef, message: string): void;
  /**
   * A state as its file says it now; throws a RaymondError if it cannot be used, and a ChangedCodeError if the turn that is about to
   * use it may not use its code.
   */
  readState(file: string, use?: CodeUse): Promise<State>;
  /** Throws a ChangedCodeError if Claude Code would start programs from a file that has changed since the run began. */
  checkSettings?(turn: PromptTurn): Promise<void>;
  /** The files of the workflow that a state belongs to. */
  readScope(state: string): Promise<Scope>;
  /** Where the files of a state's workflow are; those of a zip or a one-file workflow are unpacked there. */
  filesFolder(state: string): string;
  /** The path of a script, or null if it is inside a zip or a one-file workflow. */
  scriptPath(file: string): string | null;
  /** Finds out what the workflows are that the answer of a state names by these paths; `code` decides which it may name. */
  nameWorkflows(state: string, specs: readonly string[], code?: PinnedCode): Promise<NamedWorkflows>;
  /** Starts the processes of turns. */
  readonly starter: Pick<CommandStarter, 'start'>;
  /** An open file that all processes of turns inherit; undefined for none. */
  readonly presenceDescriptor?: number | undefined;
  /** True if the machine went down while this turn was on record, so that traces of it may have been lost. */
  isDoubtful(turn: TurnRef): boolean;
  folderOf(turn: TurnRef): string;
  /** The folder of all conversations that stay open, and that of the one which a turn opens. Nothing is made. */
  readonly conversationsFolder: string;
  conversationFolder(opener: Omit<TurnRef, 'state'>): string;
  /** The turns of the agent from this one on, which is not on record, whose folders show that they have begun. */
  findBegunTurns(turn: TurnRef): readonly { readonly number: number; readonly stem: string; readonly folder: string }[];
  /** True if the user wants turns to be taken that may have run already. */
  readonly retry: boolean;
  /** True if an earlier process may have left something of the run under way. */
  readonly isResumed: boolean;
  /** The folder for the git worktree of an agent. */
  worktreeFolder(agent: string): string;
  /** Takes a snapshot of the working folder before a turn, if it is to have one; left out where there are none. */
  readonly snapshots?: { before(turn: PromptTurn | ScriptTurn): Promise<FolderSnapshot | null> };
  /** A folder for links to the files of conversations, so that they last as long as the run; left out where there are none. */
  readonly sessionLinks?: string;
  /** True if the working directory is a small folder of its own, all of whose files may be looked at. */
  readonly isSandbox?: boolean;
  /** Makes a folder in which an agent can work, unless it is there; throws a RaymondError if that is not possible. */
  makeWorkFolder(path: string): Promise<void>;
  /** Writes the results that a join hands over; throws a RaymondError if that is not possible. */
  writeResults(path: string, content: string): Promise<void>;
  /** Makes a turn's folder with these files in it; an old one is replaced. */
  makeFolder(turn: TurnRef, files: Readonly<Record<string, string | Uint8Array>>): Promise<string>;
}

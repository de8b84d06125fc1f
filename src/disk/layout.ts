import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { fillInRun, type WorkFolders } from '../core/run/work-folders.ts';
import type { TurnRef } from '../core/turns/due.ts';
import { listFoldersUp, readGitPlace, readPathFile, realPathOf } from '../git-repository.ts';
import { stem } from '../language/state-names.ts';
import { currentUid, statIfAllowed } from './files.ts';

/** The paths of everything that Raymond keeps on disk. Nothing is made or read here. */
export interface FolderLayout {
  readonly root: string;
  readonly configFile: string;
  readonly stateFolder: string;
  readonly runsFolder: string;
  readonly debugRoot: string;
  stateFile(run: string): string;
  /** The remains of a run's file while the run is being removed. */
  prunedFile(run: string): string;
  runFolder(run: string): string;
  journalFile(run: string): string;
  /** A summary of the events, which only saves reading the journal. */
  historyFile(run: string): string;
  turnsFolder(run: string): string;
  turnFolder(run: string, turn: TurnRef): string;
  /** The number and the state, without its suffix, of an agent's turn with a folder of this name; undefined for another agent's. */
  parseTurnFolder(name: string, agent: string): { readonly number: number; readonly stem: string } | undefined;
  /** The processes of Claude Code that stay open for several turns, a folder for each, named after the turn that opens it. */
  conversationsFolder(run: string): string;
  conversationFolder(run: string, opener: Omit<TurnRef, 'state'>): string;
  /** The requests of people to a run, a file for each. */
  inboxFolder(run: string): string;
  requestFile(run: string, request: string): string;
  /** The files that come with answers, a folder for each answer. */
  uploadsFolder(run: string): string;
  /** The git repository with the snapshots of working folders, of all runs. */
  readonly snapshotsFolder: string;
  /** The snapshots of a run, a line each. */
  snapshotList(run: string): string;
  /** Links to the transcripts of the conversations of a run. */
  sessionsFolder(run: string): string;
  /** The folders that sandboxed turns see, or do not see, of these files. */
  sandboxPlaces(run: string): SandboxPlaces;
  /** Signatures of the user who has started or resumed the run, a line each. */
  sealsFile(run: string): string;
  debugFolder(run: string, startedAtMs: number): string;
  /** The folder of all tasks of a run by the default pattern, and of what its agents share. */
  tasksFolder(run: string): string;
  /** The folder of the git worktrees of runs that do not remember another: see `app/worktrees/worktree-folders.ts`. */
  readonly worktreesRoot: string;
  /** The folder of the git worktrees of such a run. */
  worktreesFolder(run: string): string;
  /** Where the agents of a run can work; relative patterns begin in the folder that holds `.raymond`. */
  workFolders(run: string, taskFolderPattern: string): WorkFolders;
  /** The folders in `.raymond` that the agents of a run may write to. Everything else there is denied to their tools. */
  writableFolders(run: string): readonly string[];
}

/** The entries of `.raymond` that agents may write to: all of an entry, or the folder of their own run in it. */
const WRITABLE_ENTRIES = { tasks: 'own run', worktrees: 'all' } as const;

/** The folders of `.raymond` that matter to the sandboxes of a run. */
export interface SandboxPlaces {
  readonly root: string;
  /** The folder of all runs. */
  readonly runs: string;
  readonly run: string;
  /** What the sandboxes of the run share, which no turn sees. */
  readonly sandbox: string;
}

/** The layout of a `.raymond` folder. */
export function layoutOf(root: string): FolderLayout {
  // Concatenated, because `join` is slow and a turn asks for its folder again and again.
  const runs = join(root, 'runs');
  const run = (id: string): string => `${runs}${sep}${id}`;
  const turns = (id: string): string => `${run(id)}${sep}turns`;
  const conversations = (id: string): string => join(run(id), 'conversations');
  const inbox = (id: string): string => join(run(id), 'inbox');
  const tasks = (id: string): string => join(root, 'tasks', id);
  return {
    root,
    configFile: join(root, 'config.toml'),
    stateFolder: join(root, 'state'),
    runsFolder: runs,
    debugRoot: join(root, 'debug'),
    stateFile: (id) => join(root, 'state', `${id}.json`),
    prunedFile: (id) => join(root, 'state', `${id}.pruned`),
    runFolder: run,
    journalFile: (id) => `${run(id)}${sep}journal.jsonl`,
    historyFile: (id) => `${run(id)}${sep}history.json`,
    turnsFolder: turns,
    turnFolder: (id, turn) => `${turns(id)}${sep}${turnFolderName(turn)}`,
    parseTurnFolder,
    conversationsFolder: conversations,
    conversationFolder: (id, { number, agent }) => join(conversations(id), `${number}-${safeFileName(agent)}`),
    inboxFolder: inbox,
    requestFile: (id, request) => join(inbox(id), `${safeFileName(request)}.json`),
    uploadsFolder: (id) => join(run(id), 'upload'),
    snapshotsFolder: join(root, 'snapshots'),
    snapshotList: (id) => join(run(id), 'snapshots.jsonl'),
    sessionsFolder: (id) => join(run(id), 'sessions'),
    sealsFile: (id) => join(run(id), 'seals'),
    sandboxPlaces: (id) => ({ root, runs, run: run(id), sandbox: join(run(id), 'sandbox') }),
    debugFolder: (id, startedAtMs) => join(root, 'debug', `${id}_${localStamp(startedAtMs)}`),
    tasksFolder: tasks,
    worktreesRoot: join(root, 'worktrees'),
    worktreesFolder: (id) => join(root, 'worktrees', id),
    workFolders: (id, pattern) => ({
      // No agent is called so: the ids of all begin with `main`.
      run: join(tasks(id), 'shared'),
      task: resolve(dirname(root), fillInRun(pattern, id)),
    }),
    writableFolders: (id) =>
      Object.entries(WRITABLE_ENTRIES).map(([name, part]) =>
        part === 'all' ? join(root, name) : join(root, name, id),
      ),
  };
}

/**
 * Finds the `.raymond` folder for `cwd`: the nearest one up to the git root. If there is none, returns where to make it:
 * the git root, else `cwd` itself. A folder of another user further up, such as one in /tmp, is ignored: it could hold
 * settings that this user never made. One in `cwd` itself or in the git root is found, and then refused. In a worktree that a run made,
 * that of its project is found. GIT_CEILING_DIRECTORIES limits the search as it limits that of git.
 */
export function findRaymondFolder(cwd: string): string {
  const start = resolve(cwd);
  for (const folder of listFoldersUp(start)) {
    const project = findProjectOfWorktree(folder);
    if (project !== undefined) return join(project, '.raymond');
    const found = join(folder, '.raymond');
    const stats = statIfAllowed(found);
    if (stats?.isDirectory() && (folder === start || isOwnedByUs(stats.uid))) return found;
    if (readGitPlace(folder) !== null) return found;
  }
  return join(start, '.raymond');
}

/** The layout of the `.raymond/` folder that applies in a working directory. */
export const findLayout = (cwd = process.cwd()): FolderLayout => layoutOf(findRaymondFolder(cwd));

const isOwnedByUs = (uid: number): boolean => currentUid() === null || currentUid() === uid;

const turnFolderName = ({ number, agent, state }: TurnRef): string =>
  `${String(number).padStart(4, '0')}-${safeFileName(agent)}-${safeFileName(stem(state))}`;

function parseTurnFolder(name: string, agent: string): ReturnType<FolderLayout['parseTurnFolder']> {
  const number = /^(\d{4,})-/.exec(name)?.[1];
  if (number === undefined) return undefined;
  const prefix = `${number}-${safeFileName(agent)}-`;
  return name.startsWith(prefix) ? { number: Number(number), stem: name.slice(prefix.length) } : undefined;
}

const MAX_NAME_BYTES = 60;
const PLAIN_NAME = /^[\w.-]{1,60}$/;

/** Makes a name safe to be part of a file name. Long names end in a hash, so that two agents never share a folder. */
function safeFileName(name: string): string {
  if (PLAIN_NAME.test(name)) return name;
  const plain = name.replace(/[^\p{L}\p{N}._-]/gu, '-');
  if (Buffer.byteLength(plain) <= MAX_NAME_BYTES) return plain;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 12);
  const head = [...plain].slice(0, 16).join('');
  return `${head}~${hash}`;
}

/** `YYYYMMDD_HHMMSS` in local time. */
function localStamp(atMs: number): string {
  const at = new Date(atMs);
  const twoDigits = (value: number): string => String(value).padStart(2, '0');
  const day = `${at.getFullYear()}${twoDigits(at.getMonth() + 1)}${twoDigits(at.getDate())}`;
  return `${day}_${twoDigits(at.getHours())}${twoDigits(at.getMinutes())}${twoDigits(at.getSeconds())}`;
}

/** The debug folder of a run: the existing one, else the one to make. A resume may happen in another time zone. */
export async function resolveDebugFolder(layout: FolderLayout, run: string, startedAtMs: number): Promise<string> {
  const names = await readdir(layout.debugRoot).catch((): string[] => []);
  const existing = names.find((name) => isDebugFolderOf(run, name));
  return existing === undefined ? layout.debugFolder(run, startedAtMs) : join(layout.debugRoot, existing);
}

/** True if a folder with this name is the debug folder of a run. */
export const isDebugFolderOf = (run: string, name: string): boolean =>
  name.startsWith(run) && /^_\d{8}_\d{6}$/.test(name.slice(run.length));

/** The name of the folder with the worktrees of a project: people can read it, and no other project has it. */
export function projectFolderName(project: string): string {
  const real = realPathOf(project);
  const hash = createHash('sha256').update(real).digest('hex').slice(0, 8);
  const name = basename(real).replace(/[^\p{L}\p{N}._-]/gu, '-');
  return `${[...name].slice(0, 40).join('')}-${hash}`;
}

/**
 * The project whose run made a worktree: `PROJECT-HASH/RUN/AGENT`. Undefined for any other folder. A worktree names its repository in a file
 * that its agent can write, but only the real one has the hash.
 */
function findProjectOfWorktree(folder: string): string | undefined {
  const name = basename(dirname(dirname(folder)));
  if (!/-[0-9a-f]{8}$/.test(name)) return undefined;
  const gitFolder = readPathFile(join(folder, '.git'), folder, 'gitdir: ');
  if (gitFolder === null) return undefined;
  // PROJECT/.git/worktrees/NAME
  const project = dirname(dirname(dirname(gitFolder)));
  return projectFolderName(project) === name ? project : undefined;
}

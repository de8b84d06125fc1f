import { readFile } from 'node:fs/promises';
import { EXIT, RaymondError } from '../errors.ts';
import { diffSnapshots, takeSnapshot } from '../git/snapshot-repository.ts';
import { tryParseJson } from '../language/text/json.ts';
import type { RunStorage } from '../storage/storage.ts';
import type { ListedSnapshot } from '../turns/snapshots.ts';
import type { RunPlace, SnapshotFiles } from './launcher.ts';
import { findPoint, nameOfPoint, readPoints, type TurnPoint } from './rerun/points.ts';

/** A file that a turn changed. */
export interface ChangedFileCount {
  readonly path: string;
  /** As git has it: A for added, M for modified, D for deleted, R for renamed, T for another kind. */
  readonly status: string;
  /** Lines; null for a file that is no text. */
  readonly added: number | null;
  readonly removed: number | null;
}

/** The changes of one folder. */
export interface FolderDiff {
  readonly folder: string;
  readonly files: readonly ChangedFileCount[];
  /** As `git diff` prints it. */
  readonly patch: string;
  readonly isCut: boolean;
}

/** The changes of a turn, of a visit, or of a whole run. */
export interface RunDiff {
  readonly run: string;
  /** The turns that it is about, such as `main/7`; empty for the whole run. */
  readonly turns: readonly string[];
  readonly folders: readonly FolderDiff[];
}

/** Shows how the files changed during a turn, a visit of a state, or the run. Throws a RaymondError where no snapshot tells. */
export async function diffRun(
  { storage, launcher: { snapshots } }: RunPlace,
  runRef: string,
  written: string | undefined,
): Promise<RunDiff> {
  const run = await storage.runs.resolve(runRef);
  if (snapshots === null)
    throw noDiffError(run, 'runs in a database have no snapshots of their files', 'Look at its branch with git.');
  const listed = await readSnapshotList(snapshots.listOf(run));
  if (listed.length === 0)
    throw noDiffError(run, 'it has no snapshots', 'They are taken around prompts, in canned runs with --snapshots.');
  const pairs = written === undefined ? spanRun(listed) : await spanTurns(run, storage, snapshots, listed, written);
  const folders: FolderDiff[] = [];
  for (const { folder, trees } of pairs.spans) {
    const [before, after] = trees;
    if (before !== after || written !== undefined) folders.push(await readDiff(snapshots, folder, trees));
  }
  return { run, turns: pairs.turns, folders };
}

interface Span {
  readonly folder: string;
  readonly trees: readonly [string, string];
}

interface Spans {
  readonly turns: readonly string[];
  readonly spans: readonly Span[];
}

/** The first and the last snapshot of each folder. */
function spanRun(listed: readonly ListedSnapshot[]): Spans {
  const spans = new Map<string, Span>();
  for (const { folder, tree } of listed)
    spans.set(folder, { folder, trees: [spans.get(folder)?.trees[0] ?? tree, tree] });
  return { turns: [], spans: [...spans.values()] };
}

/** The snapshots before and after a turn, or the turns of a visit. */
async function spanTurns(
  run: string,
  storage: RunStorage,
  snapshots: SnapshotFiles,
  listed: readonly ListedSnapshot[],
  written: string,
): Promise<Spans> {
  const points = await readPoints(run, storage);
  const point = findPoint(run, points, written);
  if (point.kind === 'question')
    throw noDiffError(run, `${written} is a question, and changes nothing`, 'Name a turn, such as main/7.');
  const isOneTurn = /^(?:.+\/)?\d+$/.test(written);
  const turns = isOneTurn
    ? [point]
    : turnsOfVisit(
        points.filter((each) => each.kind === 'turn'),
        point,
      );
  const names = turns.map(nameOfPoint);
  const { agent } = point.start;
  const first = listed.findIndex(
    (each) => each.agent === agent && each.when === 'before' && turns.some(({ start }) => start.turn === each.turn),
  );
  const before = listed[first];
  if (before === undefined) {
    const hint = 'Snapshots are taken before prompts, and before a script that comes after one.';
    throw noDiffError(run, `there is no snapshot before ${names[0]}`, hint);
  }
  const lastTurn = Math.max(...turns.map(({ start }) => start.turn));
  const after = listed
    .slice(first + 1)
    .find(
      (each) =>
        each.agent === agent &&
        each.folder === before.folder &&
        (each.turn > lastTurn || (each.turn === lastTurn && each.when === 'after')),
    );
  const tree = after?.tree ?? (await takeNow(run, snapshots, before.folder, names));
  return { turns: names, spans: [{ folder: before.folder, trees: [before.tree, tree] }] };
}

/** The turns of the visit that begins with this one. */
function turnsOfVisit(turns: readonly TurnPoint[], entry: TurnPoint): readonly TurnPoint[] {
  const own = turns.filter(({ start }) => start.agent === entry.start.agent && start.turn >= entry.start.turn);
  const next = own.findIndex(({ isEntry }, at) => at > 0 && isEntry);
  return next < 0 ? own : own.slice(0, next);
}

/** The files as they are now, for a turn after which no snapshot was taken yet. */
async function takeNow(
  run: string,
  { repository, env }: SnapshotFiles,
  folder: string,
  names: readonly string[],
): Promise<string> {
  const taken = await takeSnapshot(repository, folder, { env });
  if ('snapshot' in taken) return taken.snapshot.tree;
  throw noDiffError(run, `there is no snapshot after ${names.at(-1)}, and none can be taken: ${taken.problem}`, '');
}

/** More of a patch is not for people. */
const MAX_PATCH_CHARS = 4 << 20;

async function readDiff(
  { repository, env }: SnapshotFiles,
  folder: string,
  trees: readonly [string, string],
): Promise<FolderDiff> {
  const read = async (...args: readonly string[]): Promise<string> => {
    const diff = await diffSnapshots(repository, trees, args, { env });
    if ('text' in diff) return diff.text;
    throw new RaymondError(`The snapshots of ${folder} cannot be compared: ${diff.problem}.`, {
      exitCode: EXIT.usage,
      hint: 'They may have been removed with the folder .raymond/snapshots.',
    });
  };
  const [counts, statuses, patch] = [
    await read('--numstat', '-z'),
    await read('--name-status', '-z'),
    await read('-p'),
  ];
  return {
    folder,
    files: joinCounts(counts, statuses),
    patch: patch.slice(0, MAX_PATCH_CHARS),
    isCut: patch.length > MAX_PATCH_CHARS,
  };
}

/** Both lists have the files in the same order. With -z, a renamed file is `\t\0OLD\0NEW` in the first, and `R90\0OLD\0NEW` in the other. */
function joinCounts(counts: string, statuses: string): readonly ChangedFileCount[] {
  const fields = counts.split('\0').filter((field) => field !== '');
  const words = statuses.split('\0').filter((field) => field !== '');
  const files: ChangedFileCount[] = [];
  for (let [at, word] = [0, 0]; at < fields.length && word < words.length; ) {
    const [added = '', removed = '', path = ''] = (fields[at] ?? '').split('\t');
    const status = (words[word] ?? '').slice(0, 1);
    const isRenamed = path === '';
    files.push({
      path: isRenamed ? (fields[at + 2] ?? '') : path,
      status,
      added: toCount(added),
      removed: toCount(removed),
    });
    at += isRenamed ? 3 : 1;
    word += isRenamed ? 3 : 2;
  }
  return files;
}

const toCount = (text: string): number | null => (text === '-' ? null : Number(text));

/** Reads the list of a run's snapshots; a line that was cut off is skipped. */
export async function readSnapshotList(file: string): Promise<readonly ListedSnapshot[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').flatMap((line) => {
    const data = tryParseJson(line);
    return isListed(data) ? [data] : [];
  });
}

const isListed = (data: unknown): data is ListedSnapshot =>
  typeof data === 'object' &&
  data !== null &&
  'tree' in data &&
  typeof data.tree === 'string' &&
  /^[0-9a-f]{40,64}$/.test(data.tree) &&
  'folder' in data &&
  typeof data.folder === 'string' &&
  'agent' in data &&
  typeof data.agent === 'string' &&
  'turn' in data &&
  typeof data.turn === 'number' &&
  'when' in data &&
  (data.when === 'before' || data.when === 'after');

const noDiffError = (run: string, reason: string, hint: string): RaymondError =>
  new RaymondError(`There is no difference to show of run ${run}: ${reason}.`, {
    exitCode: EXIT.usage,
    ...(hint !== '' && { hint }),
  });

import { createHash, randomBytes } from 'node:crypto';
import { existsSync, lstatSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runIdProblem } from '../../core/run/ids.ts';
import type { Run } from '../../core/run/run.ts';
import {
  createFile,
  detachFile,
  diskError,
  makePrivateFolder,
  PRIVATE_FILE_MODE,
  replaceFile,
  temporaryFile,
} from '../../disk/files.ts';
import type { FolderLayout } from '../../disk/layout.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import {
  findDoubtfulTurns,
  firstChange,
  includesTurn,
  LeaseLostError,
  type OpenedRun,
  runExistsError,
  type SnapshotOptions,
  SnapshotWriter,
} from '../opened-run.ts';
import { type JournalEnd, type SavedRun, serializeSavedRun } from '../run-file.ts';
import type { AcquireOptions, Leases, NewRun, RunLease } from '../storage.ts';
import { PendingFiles } from './inbox.ts';
import { Journal, type JournalOptions, type OpenToAppend } from './journal-writer.ts';
import { describeRunFileProblem, loadRun, loadSnapshot, readRunStart } from './load.ts';
import { importOldRequests } from './old-requests.ts';
import { type OwnerOptions, type Ownership, takeOwnership } from './owner.ts';

/** How the leases of a folder differ in tests. */
export interface FileLeaseOptions extends Omit<OwnerOptions, 'takeOver'>, SnapshotOptions {
  readonly openFile?: OpenToAppend;
}

/** The leases of the runs in a folder. */
export const createFileLeases = (layout: FolderLayout, options: FileLeaseOptions = {}): Leases => ({
  create: (run) => createRun(layout, run, options),
  acquire: (id, how = {}) => acquireRun(layout, id, { ...options, ...how }),
});

/** Creates a run on disk and opens it. It exists from the moment that the first line of its journal is there. */
async function createRun(layout: FolderLayout, { run, events }: NewRun, options: FileLeaseOptions): Promise<RunLease> {
  const { id } = run;
  const problem = runIdProblem(id);
  if (problem !== undefined) throw new RaymondError(`${problem}.`, { exitCode: EXIT.usage });
  if (existsSync(layout.stateFile(id))) throw runExistsError(id);
  await makePrivateFolder(layout.stateFolder, options.durable);
  writeGitIgnore(layout.root);
  await makePrivateFolder(layout.runFolder(id), options.durable);
  const owner = await takeOwnership(layout.runFolder(id), options);
  return releaseOnFailure(owner, async () => {
    await clearLeftovers(layout, id);
    const begin = { seq: run.seq, offset: 0, owner: owner.number };
    const lost = new AbortController();
    const journal = await openJournal(layout, run, begin, fenceOf(id, owner, lost), { ...options, isNew: true });
    try {
      const start = { run, mark: randomBytes(8).toString('hex'), bootId: owner.facts.bootId };
      const offset = await journal.append([firstChange(start, events)]);
      const saved = { ...start, journal: { ...begin, offset, checkedFrom: 0 }, doubtful: [] };
      const isNew = await withDiskError(
        layout.stateFile(id),
        createFile(layout.stateFile(id), serializeSavedRun(saved), options.durable),
      );
      if (!isNew) throw runExistsError(id);
      // Of an earlier run of this id: it must not make this one look half removed.
      const pruned = layout.prunedFile(id);
      if (lstatSync(pruned, { throwIfNoEntry: false }) !== undefined) await rm(pruned, { force: true }).catch(() => {});
      return leaseOf(layout, saved, { owner, journal, lost, damage: [] }, options);
    } catch (error) {
      await journal.close();
      // A run that could not be started must not look like one that was.
      if (!existsSync(layout.stateFile(id))) await rm(layout.journalFile(id), { force: true }).catch(() => {});
      throw error;
    }
  });
}

/** Opens an existing run to continue it: this process becomes its owner and cuts off an incomplete step. */
async function acquireRun(
  layout: FolderLayout,
  id: string,
  options: FileLeaseOptions & AcquireOptions,
): Promise<RunLease> {
  const { journal: covered } = await loadSnapshot(layout, id);
  for (const folder of [layout.stateFolder, layout.runFolder(id)]) await makePrivateFolder(folder, options.durable);
  const owner = await takeOwnership(layout.runFolder(id), options, covered.owner);
  return releaseOnFailure(owner, async () => {
    const { predecessor } = owner;
    if (predecessor !== undefined && predecessor.state !== 'gone')
      await withDiskError(layout.journalFile(id), detachFile(layout.journalFile(id)));
    const { stateFileProblem, ...loaded } = await loadRun(layout, id, {
      cut: true,
      acceptLoss: options.acceptLoss ?? false,
    });
    const damage = describeRunFileProblem(id, stateFileProblem);
    await importOldRequests(layout, id, options.durable);
    const saved = continueRun(layout, loaded, owner);
    await writeFirstState(layout, saved, owner, options);
    const lost = new AbortController();
    const journal = await openJournal(layout, saved.run, saved.journal, fenceOf(id, owner, lost), options);
    return leaseOf(layout, saved, { owner, journal, lost, damage }, options);
  });
}

/** Throws once another process has the run, and says so to all who listen. */
const fenceOf =
  (id: string, owner: Ownership, lost: AbortController): (() => void) =>
  () => {
    if (owner.stillOwner()) return;
    const error = new LeaseLostError(id);
    lost.abort(error);
    throw error;
  };

/** Prepares a saved run for its new owner: the run file must have these facts before anything is appended. */
function continueRun(layout: FolderLayout, saved: SavedRun, { number, facts, predecessor }: Ownership): OpenedRun {
  const { run, journal } = saved;
  const isGone = !existsSync(layout.journalFile(run.id));
  const earlierBoots = [saved.bootId, predecessor?.facts?.bootId ?? null];
  return {
    run,
    journal: {
      seq: run.seq,
      offset: isGone ? 0 : journal.offset,
      owner: Math.max(number, journal.owner),
      checkedFrom: isGone ? 0 : (journal.checkedFrom ?? journal.offset),
    },
    mark: saved.mark ?? markOfVersion1(layout, run.id),
    bootId: facts.bootId,
    doubtful: findDoubtfulTurns(saved, facts.bootId, earlierBoots),
  };
}

/** The mark of a run that was started by a Raymond that made it of the path; its turns may still be running. */
const markOfVersion1 = (layout: FolderLayout, id: string): string =>
  createHash('sha256').update(layout.runFolder(id)).digest('hex').slice(0, 8);

async function writeFirstState(
  layout: FolderLayout,
  saved: SavedRun,
  { number, predecessor, stillOwner }: Ownership,
  { durable }: FileLeaseOptions,
): Promise<void> {
  const file = layout.stateFile(saved.run.id);
  const writing = replaceFile(file, serializeSavedRun(saved), { durable, writer: number, mayReplace: stillOwner });
  await withDiskError(file, writing);
  if (predecessor !== undefined) await rm(temporaryFile(file, predecessor.number), { force: true }).catch(() => {});
}

const openJournal = (
  layout: FolderLayout,
  { id }: Run,
  end: JournalEnd,
  fence: () => void,
  { openFile, durable, isNew }: FileLeaseOptions & Pick<JournalOptions, 'isNew'>,
): Promise<Journal> => Journal.open(layout.journalFile(id), end, { owner: end.owner, fence, isNew, openFile, durable });

interface OpenFiles {
  readonly owner: Ownership;
  readonly journal: Journal;
  readonly lost: AbortController;
  readonly damage: readonly string[];
}

function leaseOf(
  layout: FolderLayout,
  saved: OpenedRun,
  { owner, journal, lost, damage }: OpenFiles,
  options: FileLeaseOptions,
): RunLease {
  const { id } = saved.run;
  let { seq } = saved.run;
  let { offset: end } = saved.journal;
  const replacing = { writer: owner.number, mayReplace: owner.stillOwner, durable: options.durable };
  const put = (text: string): Promise<void> => replaceFile(layout.stateFile(id), text, replacing);
  const snapshots = new SnapshotWriter(put, saved, options);
  const snapshot = (): Promise<void> => withDiskError(layout.stateFile(id), snapshots.write(), EXIT.paused);
  const fence = fenceOf(id, owner, lost);
  const requests = new PendingFiles(layout, id, options.durable);
  return {
    run: saved.run,
    damage,
    mark: saved.mark,
    node: null,
    epoch: saved.journal.owner,
    // Each owner has a number of its own, so it also counts starts and resumes.
    generation: saved.journal.owner,
    turn: null,
    lost: lost.signal,
    presence: owner.presence?.descriptor ?? null,
    async append(steps) {
      const last = steps.at(-1)?.step.run;
      if (last === undefined) return;
      const changes = steps.map(({ change }) => {
        if (change.seq !== seq + 1) throw new Error(`step ${change.seq} of run ${id} cannot follow step ${seq}`);
        seq = change.seq;
        return change;
      });
      const offset = await journal.append(changes);
      end = offset;
      snapshots.update({ ...saved, run: last, journal: { ...saved.journal, seq: last.seq, offset } });
    },
    get journalEnd() {
      return { ...saved.journal, seq, offset: end };
    },
    snapshot,
    async confirm() {
      fence();
    },
    isDoubtful: ({ agent, number }) => includesTurn(saved.doubtful, { agent, turn: number }),
    leaseId: owner.leaseId,
    pending: () => requests.pending(),
    settle: (request, outcome) => requests.settle(request, outcome),
    async release() {
      try {
        await journal.close();
        await requests.flush();
        // After a failure of the journal the caller knows enough: a second error is not reported.
        await (journal.isHealthy ? snapshot() : snapshot().catch(() => {}));
      } finally {
        await owner.release();
      }
    },
    abandon() {
      snapshots.abandon();
      journal.abandon();
    },
  };
}

/** Removes what a process left behind that died while it created the run; but never turns, which hold a user's work. */
async function clearLeftovers(layout: FolderLayout, id: string): Promise<void> {
  const hasJournal = existsSync(layout.journalFile(id));
  const start = hasJournal ? await readRunStart(layout, id, 'missing').catch(() => undefined) : undefined;
  if (start !== undefined || existsSync(layout.stateFile(id))) throw runExistsError(id);
  if (existsSync(layout.turnsFolder(id))) {
    throw new RaymondError(`${layout.runFolder(id)} holds turns of a run whose state file is gone.`, {
      exitCode: EXIT.usage,
      hint: 'Move that folder away, or choose another --run-id.',
    });
  }
  if (hasJournal) await withDiskError(layout.journalFile(id), rm(layout.journalFile(id)));
}

/** Explains why a file of the run cannot be written. Nothing is lost, because the journal has all that was saved. */
const withDiskError = <T>(file: string, writing: Promise<T>, exitCode: number = EXIT.usage): Promise<T> =>
  writing.catch((cause: unknown) => {
    const next = 'then try again. Nothing that was saved is lost.';
    throw diskError(`${file} cannot be written`, cause, next, exitCode);
  });

async function releaseOnFailure<T>(owner: Ownership, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    await owner.release();
    throw error;
  }
}

const GIT_IGNORE_TEXT = `# Runs hold prompts and answers, which are private. The config file may be shared.
*
!config.toml
!config.schema.json
`;

/** Keeps runs out of the user's repository. An existing file is left alone, and a failure does no harm. */
function writeGitIgnore(root: string): void {
  try {
    writeFileSync(join(root, '.gitignore'), GIT_IGNORE_TEXT, { flag: 'wx', mode: PRIVATE_FILE_MODE, encoding: 'utf8' });
  } catch {}
}

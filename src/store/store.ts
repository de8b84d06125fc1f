import { createHash, randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TurnRef } from '../core/due.ts';
import type { AppliedStep, Event } from '../core/event.ts';
import { runIdProblem } from '../core/ids.ts';
import type { Run } from '../core/run.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { changeOf } from './change.ts';
import { describeStateFileProblem } from './damage.ts';
import { diskError } from './disk-error.ts';
import { createFile, detachFile, makePrivateFolder, PRIVATE_FILE_MODE, replaceFile, temporaryFile } from './files.ts';
import { Journal, type JournalOptions, type OpenToAppend } from './journal.ts';
import type { StoreLayout } from './layout.ts';
import { loadRun, loadSnapshot } from './load.ts';
import {
  findDoubtfulTurns,
  firstChange,
  includesTurn,
  type OpenedRun,
  runExistsError,
  TakenOverError,
} from './opened-run.ts';
import { type OwnerOptions, type Ownership, takeOwnership } from './owner.ts';
import { readRunStart } from './rebuild.ts';
import type { JournalCoverage, JournalEnd, SavedRun } from './saved-run.ts';
import { serializeSavedRun } from './serialize-run.ts';
import { type SnapshotOptions, SnapshotWriter } from './snapshot-writer.ts';
import type { StopMode } from './stop-request.ts';

/** Stores the steps of one run. The process that has it owns the run. */
export interface RunStore {
  /** Resolves once these steps are on disk. After a failure it refuses everything, so that nothing starts any more. */
  save(steps: readonly AppliedStep[]): Promise<void>;
  /** Where the journal ends after the last save. */
  readonly journalEnd: JournalCoverage;
  /** Brings the state file up to date. */
  snapshot(): Promise<void>;
  /** Brings the state file up to date, closes the files and gives up the ownership. */
  close(): Promise<void>;
  /** Closes the files and saves nothing, as if this process had been killed. */
  abandon(): void;
  /** A file that the processes of turns are to inherit, so that other containers can tell whether one lives. */
  readonly presenceDescriptor: number | undefined;
  /** What the markers of the run's processes contain. It stays the same under whatever path the run is found. */
  readonly mark: string;
  /** Whether the machine went down while this turn was on record, so that traces of it may have been lost. */
  isDoubtful(turn: Pick<TurnRef, 'agent' | 'number'>): boolean;
  /** The stop that another process has requested; null if none has. */
  requestedStop(): StopMode | null;
}

/** What tests and a take-over need to be different. */
export interface StoreOptions extends OwnerOptions, SnapshotOptions {
  readonly openFile?: OpenToAppend;
  /** Whether to go on with a journal that has lost lines which the state file includes. */
  readonly acceptLoss?: boolean;
}

/** Creates a run on disk and opens it. It exists from the moment that the first line of its journal is there. */
export async function createRun(
  layout: StoreLayout,
  run: Run,
  events: readonly Event[],
  options: StoreOptions = {},
): Promise<RunStore> {
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
    const journal = await openJournal(layout, run, begin, owner, { ...options, isNew: true });
    try {
      const start = { run, mark: randomBytes(8).toString('hex'), bootId: owner.facts.bootId };
      const offset = await journal.append([firstChange(start, events)]);
      const saved = { ...start, journal: { ...begin, offset, checkedFrom: 0 }, doubtful: [] };
      const isNew = await withDiskError(
        layout.stateFile(id),
        createFile(layout.stateFile(id), serializeSavedRun(saved), options.durable),
      );
      if (!isNew) throw runExistsError(id);
      return storeOf(layout, saved, owner, journal, options);
    } catch (error) {
      await journal.close();
      // A run that could not be started must not look like one that was.
      if (!existsSync(layout.stateFile(id))) await rm(layout.journalFile(id), { force: true }).catch(() => {});
      throw error;
    }
  });
}

/**
 * Opens an existing run to go on with it: this process becomes its owner and cuts off an incomplete step. `damage` says
 * what of its files had to be restored.
 */
export async function openStore(
  layout: StoreLayout,
  id: string,
  options: StoreOptions = {},
): Promise<{ readonly run: Run; readonly store: RunStore; readonly damage: readonly string[] }> {
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
    const damage = describeStateFileProblem(id, stateFileProblem);
    const saved = continueRun(layout, loaded, owner);
    await writeFirstState(layout, saved, owner, options);
    const journal = await openJournal(layout, saved.run, saved.journal, owner, options);
    return { run: saved.run, store: storeOf(layout, saved, owner, journal, options), damage };
  });
}

/** What a new owner makes of a saved run: what counts from now on must be in the state file before anything is appended. */
function continueRun(layout: StoreLayout, saved: SavedRun, { number, facts, predecessor }: Ownership): OpenedRun {
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
const markOfVersion1 = (layout: StoreLayout, id: string): string =>
  createHash('sha256').update(layout.runFolder(id)).digest('hex').slice(0, 8);

async function writeFirstState(
  layout: StoreLayout,
  saved: SavedRun,
  { number, predecessor, stillOwner }: Ownership,
  { durable }: StoreOptions,
): Promise<void> {
  const file = layout.stateFile(saved.run.id);
  const writing = replaceFile(file, serializeSavedRun(saved), { durable, writer: number, mayReplace: stillOwner });
  await withDiskError(file, writing);
  if (predecessor !== undefined) await rm(temporaryFile(file, predecessor.number), { force: true }).catch(() => {});
}

const openJournal = (
  layout: StoreLayout,
  { id }: Run,
  end: JournalEnd,
  owner: Ownership,
  { openFile, durable, isNew }: StoreOptions & Pick<JournalOptions, 'isNew'>,
): Promise<Journal> =>
  Journal.open(layout.journalFile(id), end, {
    owner: end.owner,
    fence() {
      if (!owner.stillOwner()) throw new TakenOverError(id);
    },
    isNew,
    openFile,
    durable,
  });

function storeOf(
  layout: StoreLayout,
  saved: OpenedRun,
  owner: Ownership,
  journal: Journal,
  options: StoreOptions,
): RunStore {
  const { id } = saved.run;
  let { seq } = saved.run;
  let { offset: end } = saved.journal;
  const replacing = { writer: owner.number, mayReplace: owner.stillOwner, durable: options.durable };
  const put = (text: string): Promise<void> => replaceFile(layout.stateFile(id), text, replacing);
  const snapshots = new SnapshotWriter(put, saved, options);
  const snapshot = (): Promise<void> => withDiskError(layout.stateFile(id), snapshots.write(), EXIT.paused);
  return {
    async save(steps) {
      const last = steps.at(-1)?.step.run;
      if (last === undefined) return;
      const changes = steps.map(({ before, step }) => {
        if (before.seq !== seq) throw new Error(`step ${before.seq + 1} of run ${id} cannot follow step ${seq}`);
        seq = step.run.seq;
        return changeOf(before, step);
      });
      const offset = await journal.append(changes);
      end = offset;
      snapshots.update({ ...saved, run: last, journal: { ...saved.journal, seq: last.seq, offset } });
    },
    get journalEnd() {
      return { ...saved.journal, seq, offset: end };
    },
    snapshot,
    async close() {
      try {
        await journal.close();
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
    presenceDescriptor: owner.presence?.descriptor,
    mark: saved.mark,
    isDoubtful: ({ agent, number }) => includesTurn(saved.doubtful, { agent, turn: number }),
    requestedStop: owner.requestedStop,
  };
}

/** Removes what a process left behind that died while it created the run; but never turns, which hold a user's work. */
async function clearLeftovers(layout: StoreLayout, id: string): Promise<void> {
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

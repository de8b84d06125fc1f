import { existsSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AppliedStep, Event } from '../core/event.ts';
import { runIdProblem } from '../core/ids.ts';
import type { Run } from '../core/run.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { changeOf } from './change.ts';
import { diskError } from './disk-error.ts';
import { createFile, makePrivateFolder, PRIVATE_FILE_MODE, replaceFile } from './files.ts';
import { Journal, type OpenToAppend } from './journal.ts';
import type { StoreLayout } from './layout.ts';
import { loadRun, loadSnapshot } from './load.ts';
import { type OwnerOptions, type Ownership, takeOwnership } from './owner.ts';
import { type SnapshotOptions, SnapshotWriter } from './snapshot-writer.ts';
import { type SavedRun, serializeSavedRun } from './state-file.ts';
import type { StopMode } from './stop-request.ts';

/** Stores the steps of one run. The process that has it owns the run. */
export interface RunStore {
  /** Resolves once these steps are on disk. After a failure it refuses everything, so that nothing starts any more. */
  save(steps: readonly AppliedStep[]): Promise<void>;
  /** Brings the state file up to date. */
  snapshot(): Promise<void>;
  /** Brings the state file up to date, closes the files and gives up the ownership. */
  close(): Promise<void>;
  /** Closes the files and saves nothing, as if this process had been killed. */
  abandon(): void;
  /** False once another process has taken the run over. */
  stillOwner(): Promise<boolean>;
  /** The stop that another process has requested; null if none has. */
  requestedStop(): StopMode | null;
}

/** What tests and a take-over need to be different. */
export interface StoreOptions extends OwnerOptions, SnapshotOptions {
  readonly openFile?: OpenToAppend;
}

/** Creates a run on disk and opens it. It exists from the moment that its state file exists. */
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
    const journal = await Journal.open(
      layout.journalFile(id),
      { seq: run.seq, offset: 0 },
      options.openFile,
      options.durable,
    );
    try {
      const offset = await journal.append([{ seq: run.seq, head: {}, agents: [], events }]);
      const saved = { run, journal: { seq: run.seq, offset } };
      const isNew = await withDiskError(
        layout.stateFile(id),
        createFile(layout.stateFile(id), serializeSavedRun(saved), options.durable),
      );
      if (!isNew) throw runExistsError(id);
      const snapshots = new SnapshotWriter(layout.stateFile(id), saved, true, options);
      return storeOf(layout, saved.run, owner, journal, snapshots);
    } catch (error) {
      await journal.close();
      throw error;
    }
  });
}

/** Opens an existing run to go on with it: this process becomes its owner and cuts off an incomplete step. */
export async function openStore(
  layout: StoreLayout,
  id: string,
  options: StoreOptions = {},
): Promise<{ readonly run: Run; readonly store: RunStore }> {
  await loadSnapshot(layout, id);
  await makePrivateFolder(layout.runFolder(id), options.durable);
  const owner = await takeOwnership(layout.runFolder(id), options);
  return releaseOnFailure(owner, async () => {
    const saved = await restartMissingJournal(layout, await loadRun(layout, id, { cut: true }));
    const journal = await Journal.open(layout.journalFile(id), saved.journal, options.openFile, options.durable);
    const snapshots = new SnapshotWriter(layout.stateFile(id), saved, false, options);
    return { run: saved.run, store: storeOf(layout, saved.run, owner, journal, snapshots) };
  });
}

function storeOf(
  layout: StoreLayout,
  run: Run,
  owner: Ownership,
  journal: Journal,
  snapshots: SnapshotWriter,
): RunStore {
  const { id } = run;
  let { seq } = run;
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
      snapshots.update({ run: last, journal: { seq: last.seq, offset } });
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
    stillOwner: owner.stillOwner,
    requestedStop: owner.requestedStop,
  };
}

/** Removes what a process left behind that died while it created the run; but never turns, which hold a user's work. */
async function clearLeftovers(layout: StoreLayout, id: string): Promise<void> {
  if (existsSync(layout.stateFile(id))) throw runExistsError(id);
  if (existsSync(layout.turnsFolder(id))) {
    throw new RaymondError(`${layout.runFolder(id)} holds turns of a run whose state file is gone.`, {
      exitCode: EXIT.usage,
      hint: 'Move that folder away, or choose another --run-id.',
    });
  }
  if (existsSync(layout.journalFile(id))) await withDiskError(layout.journalFile(id), rm(layout.journalFile(id)));
}

/** Restarts a journal that is gone at its first byte. The state file must say so before the new journal exists. */
async function restartMissingJournal(layout: StoreLayout, saved: SavedRun): Promise<SavedRun> {
  const { id } = saved.run;
  if (existsSync(layout.journalFile(id))) return saved;
  const restarted = { run: saved.run, journal: { seq: saved.run.seq, offset: 0 } };
  await withDiskError(layout.stateFile(id), replaceFile(layout.stateFile(id), serializeSavedRun(restarted)));
  return restarted;
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

const runExistsError = (id: string): RaymondError =>
  new RaymondError(`A run ${id} already exists.`, {
    exitCode: EXIT.usage,
    hint: `Choose another --run-id, or go on with that run: \`raymond resume ${id}\`.`,
  });

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

import type { FolderLayout } from '../../disk/layout.ts';
import { SYSTEM_CLOCK } from '../../process/clock.ts';
import type { JournalReader, RunCatalog, RunStorage, TurnOutput } from '../storage.ts';
import { createFileBlobs } from './blobs.ts';
import { createFileInbox } from './inbox.ts';
import type { Signer } from './prune.ts';

/** The runs in the files of a `.raymond` folder. The code for each part is loaded when it is first used: a new run needs none of it. */
export function createFileStorage(layout: FolderLayout, signer: Signer): RunStorage {
  return {
    name: layout.root,
    clock: SYSTEM_CLOCK,
    runs: loadCatalog(async () => (await import('./catalog.ts')).createFileCatalog(layout, signer)),
    journal: loadJournal(async () => (await import('./journal.ts')).createFileJournal(layout)),
    inbox: createFileInbox(layout),
    blobs: createFileBlobs(layout),
    output: loadOutput(layout),
    close: async () => {},
  };
}

/** Calls `create` once, when the result is first needed. */
function once<T>(create: () => Promise<T>): () => Promise<T> {
  let created: Promise<T> | undefined;
  return () => {
    created ??= create();
    return created;
  };
}

function loadCatalog(create: () => Promise<RunCatalog>): RunCatalog {
  const load = once(create);
  return {
    resolve: async (reference) => (await load()).resolve(reference),
    list: async (depth) => (await load()).list(depth),
    observe: async (run, depth) => (await load()).observe(run, depth),
    isDriven: async (run) => (await load()).isDriven(run),
    findWorkflow: async (run) => (await load()).findWorkflow(run),
    measure: async (run) => (await load()).measure(run),
    remove: async (run) => (await load()).remove(run),
    findHalfRemoved: async () => (await load()).findHalfRemoved(),
  };
}

function loadJournal(create: () => Promise<JournalReader>): JournalReader {
  const load = once(create);
  return {
    async *read(run, after) {
      yield* (await load()).read(run, after);
    },
    async *readBackwards(run) {
      yield* (await load()).readBackwards(run);
    },
    async *follow(run, after, stop) {
      yield* (await load()).follow(run, after, stop);
    },
    has: async (run, at) => (await load()).has(run, at),
    readSummary: async (run) => (await load()).readSummary(run),
  };
}

function loadOutput(layout: FolderLayout): TurnOutput {
  const load = once(async () => (await import('./output.ts')).createFileOutput(layout));
  return {
    async *read(run, turn, stream, until) {
      yield* (await load()).read(run, turn, stream, until);
    },
    sizes: async (run, turn) => (await load()).sizes(run, turn),
    findFolder: (run, turn) => layout.turnFolder(run, turn),
    publish: () => async () => {},
  };
}

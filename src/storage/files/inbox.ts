import { existsSync, readdirSync } from 'node:fs';
import { link, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import {
  createFile,
  diskError,
  makePrivateFolder,
  readRegularFile,
  replaceFile,
  temporaryFile,
} from '../../disk/files.ts';
import type { FolderLayout } from '../../disk/layout.ts';
import { EXIT, errorCodeOf, errorMessageOf, RaymondError } from '../../errors.ts';
import { noSuchRunError } from '../opened-run.ts';
import {
  compareRequests,
  type FoundRequest,
  formatRequest,
  type InboxRequest,
  type PendingRequest,
  parseRequestText,
  type RequestOutcome,
} from '../requests.ts';
import type { RunInbox } from '../storage.ts';
import { readOldAnswer } from './old-requests.ts';
import { ownerOf } from './owner.ts';

/*
 * Each request is a file in the folder `inbox` of its run.
 *
 * 1. The file is complete and on disk from the first moment, and its name is made of the request's id, so that of two requests with
 *    the same id only the first counts.
 * 2. Only the process that drives the run settles a request, by replacing the file with one that has the outcome, after the journal
 *    has it. After a crash in between, the next driver finds the request in the journal and settles it.
 */

/** How the requests of runs in files are written. */
export interface FileInboxOptions {
  /** True if requests must survive a power cut; the default. */
  readonly durable?: boolean | undefined;
  /** True in the process that drives the run: it need not check who does. */
  readonly isDriver?: boolean;
}

/** Creates the inbox of all runs of a folder. */
export function createFileInbox(
  layout: FolderLayout,
  { durable = true, isDriver = false }: FileInboxOptions = {},
): RunInbox {
  const find = async (run: string, id: string): Promise<FoundRequest | null> =>
    readRequest(layout.requestFile(run, id), id) ?? findOld(layout, run, id);
  return {
    async put(run, request) {
      if (!existsSync(layout.runFolder(run))) throw noSuchRunError(run);
      if (!isDriver) await refuseOlderDriver(layout, run);
      if (findOld(layout, run, request.id) !== null) return false;
      const file = layout.requestFile(run, request.id);
      await makePrivateFolder(dirname(file), durable);
      return createFile(file, formatRequest(request, null), durable).catch((cause: unknown) => {
        throw diskError(`${file} cannot be made`, cause, `then try again. ${UNHANDLED[request.kind]}`);
      });
    },
    find,
    async withdraw(run, id) {
      const file = layout.requestFile(run, id);
      if (readRequest(file, id)?.outcome != null) return false;
      // Moved before it is read again: it may be settled at any moment.
      const moved = temporaryFile(file, process.pid);
      try {
        await rename(file, moved);
      } catch (error) {
        if (errorCodeOf(error) === 'ENOENT') return false;
        throw diskError(`${file} cannot be removed`, error, 'then try again.');
      }
      const isSettled = readRequest(moved, id)?.outcome != null;
      if (isSettled) await link(moved, file).catch(() => {});
      await rm(moved, { force: true });
      return !isSettled;
    },
  };
}

/** The sentence about a request that could not be made. */
const UNHANDLED: Readonly<Record<InboxRequest['kind'], string>> = {
  stop: 'The run continues.',
  message: 'Nothing was said.',
  interrupt: 'Nothing was said.',
  answer: 'The question still waits.',
  timeout: 'The question still waits.',
};

/** An older Raymond does not look into the inbox. */
async function refuseOlderDriver(layout: FolderLayout, run: string): Promise<void> {
  const owner = await ownerOf(layout.runFolder(run));
  if (owner?.facts === undefined || owner.state === 'gone' || owner.readsInbox) return;
  const { pid } = owner.facts;
  throw new RaymondError(
    `The run ${run} is driven by process ${pid}, an older Raymond that cannot receive requests of this one.`,
    {
      exitCode: EXIT.usage,
      hint: `Use the Raymond that drives it, or press Ctrl-C there and continue with \`raymond resume ${run}\`.`,
    },
  );
}

/** An answer that an older Raymond has left, until the run is driven again. */
function findOld(layout: FolderLayout, run: string, id: string): FoundRequest | null {
  const request = readOldAnswer(layout, run, id);
  return request && { request, outcome: null };
}

/** Reads the file of a request; null if there is none. */
function readRequest(file: string, id: string): FoundRequest | null {
  const unreadable = (message: string): FoundRequest => ({
    request: { kind: 'unreadable', id, message },
    outcome: null,
  });
  try {
    return parseRequestText(readRegularFile(file)) ?? unreadable(`${file} is not a request that Raymond wrote`);
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return null;
    return unreadable(`${file} cannot be read: ${errorMessageOf(error)}`);
  }
}

/** The requests of one run that this process drives. */
export class PendingFiles {
  private readonly layout: FolderLayout;
  private readonly run: string;
  private readonly durable: boolean;
  /** By the name of the file; null for those that are settled. */
  private readonly known = new Map<string, PendingRequest | null>();
  private readonly settling = new Set<Promise<void>>();

  constructor(layout: FolderLayout, run: string, durable = true) {
    this.layout = layout;
    this.run = run;
    this.durable = durable;
  }

  /** Synchronous, because the way through the thread pool would take longer. */
  pending(): readonly PendingRequest[] {
    const names = this.listNames();
    // One that is gone was withdrawn.
    for (const name of this.known.keys()) if (!names.has(name)) this.known.delete(name);
    for (const name of names) if (!this.known.has(name)) this.read(name);
    return [...this.known.values()].filter((request) => request !== null).sort(compareRequests);
  }

  settle(id: string, outcome: RequestOutcome): void {
    const file = this.layout.requestFile(this.run, id);
    const name = basename(file);
    const request = this.known.get(name);
    if (request == null || request.kind === 'unreadable') return;
    this.known.set(name, null);
    // If that fails, the next driver of the run finds the request in the journal.
    const settling = replaceFile(file, formatRequest(request, outcome), { durable: this.durable })
      .catch(() => {})
      .finally(() => this.settling.delete(settling));
    this.settling.add(settling);
  }

  /** Waits until what was settled is on disk. */
  async flush(): Promise<void> {
    await Promise.all(this.settling);
  }

  private listNames(): ReadonlySet<string> {
    const folder = this.layout.inboxFolder(this.run);
    // Mostly there is none, and to look takes less time than an error.
    if (!existsSync(folder)) return NONE;
    try {
      return new Set(readdirSync(folder).filter((name) => name.endsWith('.json') && !name.startsWith('.')));
    } catch {
      return NONE;
    }
  }

  private read(name: string): void {
    const found = readRequest(join(this.layout.inboxFolder(this.run), name), name.slice(0, -'.json'.length));
    if (found !== null) this.known.set(name, found.outcome === null ? found.request : null);
  }
}

const NONE: ReadonlySet<string> = new Set();

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, constants, existsSync, openSync, readdirSync, statSync, unlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import type { OwnerState } from '../../core/run/status.ts';
import { createFile, diskError, readRegularFile } from '../../disk/files.ts';
import { EXIT, errorCodeOf, RaymondError } from '../../errors.ts';
import { identifyThisProcess, isProcessAlive, type ProcessIdentity } from '../../process/identity.ts';
import { RunDrivenError } from '../opened-run.ts';
import type { OwnerRecord } from './owner-record.ts';

/*
 * One process owns a run and drives it. The files `owner.1`, `owner.2`, … in the run's folder record the owners; the highest
 * number owns.
 *
 * 1. An owner's file is complete from the first moment, and it is made only if there is none of that number (link).
 * 2. N+1 is made only by a process that has proved N gone, and holds only if it is the highest afterwards. So of two processes
 *    that have both proved N gone, one fails to make N+1 and then meets a living owner.
 * 3. An owner that is done removes its own file. The next owner removes the file of that one, for good: an owner that
 *    lives on unseen finds its file gone.
 * 4. Each ownership has an id that no other has, because a number may come again, and so may a process. Requests to an owner
 *    are addressed to that id; in the file it is called `life`.
 * 5. A number is higher than those of all owners that wrote to the journal, so that their lines can be told apart.
 */

/** The owner that is on record. Without a readable file there are no `facts`; a file of an older Raymond has no id. */
export interface Owner {
  readonly number: number;
  readonly state: OwnerState;
  readonly facts: ProcessIdentity | undefined;
  readonly leaseId: string | null;
  /** False for an older Raymond, which does not read the inbox of the run. */
  readonly readsInbox: boolean;
}

/** The right to change a run. */
export interface Ownership {
  readonly number: number;
  readonly leaseId: string;
  /** This process. */
  readonly facts: ProcessIdentity;
  /** Shows other containers that this process lives; undefined where that is not needed. */
  readonly presence: Presence | undefined;
  /** The owner from which the run was taken, if it had left its file. One that is not gone may still be writing. */
  readonly predecessor: Owner | undefined;
  /** False once another process has taken the run over; a folder that is gone has no owner at all. Quick: it is asked before each write. */
  stillOwner(): boolean;
  /** Gives the run up, so that another process can take it. */
  release(): Promise<void>;
}

/** How ownership is taken. */
export interface OwnerOptions {
  /** True to take the run from an owner that cannot be checked from here. One that is known to be alive keeps it. */
  readonly takeOver?: boolean;
  readonly facts?: ProcessIdentity;
  /** True if what is written must survive a power cut; true if left out. */
  readonly durable?: boolean;
}

/** The version of the requests in the inbox of a run. */
const INBOX_VERSION = 1;

/** Makes this process the owner of the run in this folder, unless another one is. Its number is above `lastNumber`. */
export async function takeOwnership(folder: string, options: OwnerOptions = {}, lastNumber = 0): Promise<Ownership> {
  const facts = options.facts ?? (await identifyThisProcess());
  for (;;) {
    const owner = await ownerOf(folder, facts);
    if (owner !== undefined && !canTake(owner, options)) throw ownedByOtherError(folder, owner);
    // Only now: it would be taken for that of the last owner.
    const presence = options.durable === false ? undefined : await openPresence(folder, facts.namespace);
    const ownership = await tryToOwn(folder, { facts, presence, predecessor: owner }, lastNumber, options.durable);
    if (ownership !== undefined) return ownership;
    if (presence !== undefined) closePresence(presence);
  }
}

type Taker = Pick<Ownership, 'facts' | 'presence' | 'predecessor'>;

/** Makes the file of the next owner; undefined if another process was faster. */
async function tryToOwn(
  folder: string,
  taker: Taker,
  lastNumber: number,
  durable?: boolean,
): Promise<Ownership | undefined> {
  const { facts, presence, predecessor } = taker;
  const number = Math.max(predecessor?.number ?? 0, lastNumber) + 1;
  const file = ownerFile(folder, number);
  const leaseId = randomUUID().replaceAll('-', '');
  const record = { ...facts, life: leaseId, inbox: INBOX_VERSION, ...(presence && { presence: presence.inode }) };
  if (!(await createOwner(file, record, durable))) return undefined;
  const names = namesIn(folder);
  if (highestNumber(names) !== number) {
    removeAtOnce(file);
    return undefined;
  }
  for (const past of ownerNumbers(names)) if (past < number) removeAtOnce(ownerFile(folder, past));
  const ownership = ownershipOf(folder, taker, number, leaseId);
  // Runs that need not survive a power cut are those of tests, in folders that no other process knows.
  return durable === false ? { ...ownership, stillOwner: () => true } : ownership;
}

function ownershipOf(folder: string, taker: Taker, number: number, leaseId: string): Ownership {
  let { presence } = taker;
  return {
    ...taker,
    number,
    leaseId,
    stillOwner: () => highestNumber(namesIn(folder)) === number || !existsSync(folder),
    async release() {
      // If it cannot be removed, the end of this process will prove that its owner is gone.
      removeAtOnce(ownerFile(folder, number));
      if (presence !== undefined) closePresence(presence);
      presence = undefined;
    },
  };
}

/** True if an owner of the run in this folder is on record, be it alive or not. */
export const hasOwner = (folder: string): boolean => ownerNumbers(namesIn(folder)).length > 0;

/** Finds the owner of the run in this folder; undefined if there is none. */
export async function ownerOf(folder: string, here?: ProcessIdentity): Promise<Owner | undefined> {
  const number = highestNumber(namesIn(folder));
  if (number === undefined) return undefined;
  const text = readOwner(ownerFile(folder, number));
  if (text === undefined) return ownerOf(folder, here);
  const { parseOwnerRecord } = await import('./owner-record.ts');
  const record = parseOwnerRecord(text);
  if (record === undefined) return { number, state: 'unreadable', facts: undefined, leaseId: null, readsInbox: false };
  const { life: leaseId, presence, inbox, ...facts } = record;
  const seen = await stateOf(facts, here ?? (await identifyThisProcess()));
  const isGone = seen === 'hidden' && presence !== undefined && isNobodyPresent(folder, presence);
  const state = seen === 'hidden' ? (isGone ? 'gone' : 'elsewhere') : seen;
  return { number, state, facts, leaseId, readsInbox: inbox >= INBOX_VERSION };
}

function readOwner(file: string): string | undefined {
  try {
    return readRegularFile(file);
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined;
    throw diskError(`${file} cannot be read`, error, 'then try again.');
  }
}

/** Proves whether an owner's process still exists, as far as that can be seen from here; `hidden` in another container. */
async function stateOf(owner: ProcessIdentity, here: ProcessIdentity): Promise<OwnerState | 'hidden'> {
  const sameBoot = owner.bootId === null || here.bootId === null ? undefined : owner.bootId === here.bootId;
  // Equal boot ids mean the same machine, whatever name it or one of its containers has.
  if (sameBoot !== true && owner.host !== here.host) return 'elsewhere';
  if (sameBoot === false) return 'gone';
  if (owner.namespace !== here.namespace) return sameBoot === true ? 'hidden' : 'elsewhere';
  return (await isProcessAlive(owner)) ? 'alive' : 'gone';
}

const canTake = ({ state }: Owner, { takeOver = false }: OwnerOptions): boolean =>
  state === 'gone' || (takeOver && state !== 'alive');

async function createOwner(file: string, record: OwnerRecord, durable?: boolean): Promise<boolean> {
  try {
    return await createFile(file, `${JSON.stringify(record)}\n`, durable);
  } catch (cause) {
    throw diskError(`${file} cannot be made`, cause, 'then try again. Nothing was started.');
  }
}

/** The highest owner number; undefined if the run has no owner. */
function highestNumber(names: readonly string[]): number | undefined {
  const numbers = ownerNumbers(names);
  return numbers.length === 0 ? undefined : Math.max(...numbers);
}

const ownerNumbers = (names: readonly string[]): readonly number[] =>
  names.flatMap((name) => name.match(/^owner\.(\d+)$/)?.[1] ?? []).map(Number);

function removeAtOnce(file: string): void {
  try {
    unlinkSync(file);
  } catch {}
}

/** Synchronous, because the way through the thread pool takes many times as long. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return [];
    throw diskError(`${folder} cannot be read`, error, 'then try again.');
  }
}

const ownerFile = (folder: string, number: number): string => join(folder, `owner.${number}`);

function ownedByOtherError(folder: string, { number, state, facts }: Owner): RaymondError {
  const run = basename(folder);
  const takeOver = `continue with \`raymond resume ${run} --take-over\``;
  if (facts === undefined) {
    const message = `It is unknown which process drives the run ${run}: ${ownerFile(folder, number)} cannot be read.`;
    return new RaymondError(message, { exitCode: EXIT.usage, hint: `If nobody does any more, ${takeOver}.` });
  }
  if (state === 'alive') {
    return new RunDrivenError(`The run ${run} is driven by process ${facts.pid}, which is alive.`, {
      exitCode: EXIT.usage,
      hint: `Wait for it, or stop it: \`raymond stop ${run}\`.`,
    });
  }
  return new RaymondError(
    `The run ${run} was last driven by process ${facts.pid} on ${facts.host}, which cannot be checked from here.`,
    {
      exitCode: EXIT.usage,
      hint: `If that process is no more, ${takeOver}.`,
    },
  );
}

/*
 * Processes of a container cannot be seen from another one, not even from the same one after a restart. But the kernel knows who
 * has a file open: the owner of a run, and all processes of its turns, hold a named pipe of the run's folder open for reading. Who
 * opens it for writing without waiting is refused if no process of this machine holds it.
 */

/** The pipe that shows that a process of a run lives. */
interface Presence {
  /** To be inherited by the processes of turns. */
  readonly descriptor: number;
  /** Identifies the pipe: in a copy of the folder it is another. */
  readonly inode: string;
}

/** The pid namespace in which Linux starts; from there, all processes can be seen. */
const FIRST_NAMESPACE = 'pid:[4026531836]';

/** Opens the pipe of a run's folder, and makes it if there is none; undefined where it is of no use or cannot be made. */
async function openPresence(folder: string, namespace: string | null): Promise<Presence | undefined> {
  if (namespace === null || namespace === FIRST_NAMESPACE) return undefined;
  const pipe = pipeIn(folder);
  try {
    if (statSync(pipe, { throwIfNoEntry: false }) === undefined)
      await promisify(execFile)('mkfifo', ['-m', '600', pipe]);
    const stats = statSync(pipe);
    if (!stats.isFIFO()) return undefined;
    return { descriptor: openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK), inode: String(stats.ino) };
  } catch {
    return undefined;
  }
}

/** Closes the pipe in this process. */
function closePresence({ descriptor }: Presence): void {
  closeSync(descriptor);
}

/** Proves that no process of this machine holds the pipe; false if one does, or if it is not that pipe. */
function isNobodyPresent(folder: string, inode: string): boolean {
  const pipe = pipeIn(folder);
  try {
    const stats = statSync(pipe);
    if (!stats.isFIFO() || String(stats.ino) !== inode) return false;
    closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK));
    return false;
  } catch (error) {
    return errorCodeOf(error) === 'ENXIO';
  }
}

const pipeIn = (folder: string): string => join(folder, 'alive');

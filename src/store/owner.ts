import { randomUUID } from 'node:crypto';
import { readdirSync, unlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { tryParseJson } from '../core/json.ts';
import type { OwnerState } from '../core/observed-status.ts';
import { EXIT, errorCodeOf, RaymondError } from '../errors.ts';
import { diskError } from './disk-error.ts';
import { createFile } from './files.ts';
import { identifyThisProcess, type ProcessIdentity, readStartTime } from './process-identity.ts';
import { clearStopRequests, readStopRequest, type StopStage } from './stop-request.ts';

/*
 * Who drives a run. The files `owner.1`, `owner.2`, … in its folder tell; the highest number owns.
 *
 * 1. An owner's file is whole from the first moment, and it is made only if there is none of that number (link).
 * 2. N+1 is made only by who has proved N gone, and holds only if it is the highest afterwards. So of two takers that
 *    have both proved N gone one fails to make N+1, then meets a living owner.
 * 3. An owner that is done removes its own file, and no other's.
 * 4. Each time a process takes a run, that life of the run gets a name that no other has: a number may come again, and
 *    so may a process. Who asks an owner for something asks it under that name.
 */

/** The owner a run has on record; `facts` are missing if its file cannot be read, `life` also if it has none to tell. */
export interface Owner {
  readonly number: number;
  readonly state: OwnerState;
  readonly facts: ProcessIdentity | undefined;
  readonly life: string | null;
}

/** The right to change a run. */
export interface Ownership {
  readonly number: number;
  /** False once someone has taken the run over. */
  stillOwner(): Promise<boolean>;
  /** Whether somebody wants the run to stop, in this life of it. */
  requestedStop(): StopStage | null;
  /** Gives the run free. */
  release(): Promise<void>;
}

export interface OwnerOptions {
  /** Whether to take the run from an owner that we cannot see. One that is seen alive keeps it. */
  readonly takeOver?: boolean;
  readonly facts?: ProcessIdentity;
  /** Whether what is written must survive a power cut; it does if this is left out. */
  readonly durable?: boolean;
}

/** Makes this process the owner of the run whose folder this is, if it has no other. */
export async function takeOwnership(folder: string, options: OwnerOptions = {}): Promise<Ownership> {
  const facts = options.facts ?? (await identifyThisProcess());
  for (;;) {
    const owner = await ownerOf(folder, facts);
    if (owner !== undefined && !canTake(owner, options)) throw ownedByOtherError(folder, owner);
    const number = (owner?.number ?? 0) + 1;
    const file = ownerFile(folder, number);
    const life = randomUUID().replaceAll('-', '');
    if (!(await createOwner(file, { ...facts, life }, options.durable))) continue;
    const ownership = ownershipOf(folder, number, life);
    const names = namesIn(folder);
    if (highestNumber(names) === number) {
      await clearStopRequests(folder, (each) => each !== life, names);
      return ownership;
    }
    await ownership.release();
  }
}

function ownershipOf(folder: string, number: number, life: string): Ownership {
  return {
    number,
    stillOwner: async () => highestNumber(namesIn(folder)) === number,
    requestedStop: () => readStopRequest(folder, life),
    async release() {
      // If it cannot be removed, our end will be the proof that we are gone.
      removeAtOnce(ownerFile(folder, number));
      if (readStopRequest(folder, life) !== null) await clearStopRequests(folder, (each) => each === life);
    },
  };
}

/** Who owns the run whose folder this is, or undefined if nobody does. */
export async function ownerOf(folder: string, here?: ProcessIdentity): Promise<Owner | undefined> {
  const number = highestNumber(namesIn(folder));
  if (number === undefined) return undefined;
  const text = await readFile(ownerFile(folder, number), 'utf8').catch((error: unknown) => {
    if (errorCodeOf(error) === 'ENOENT') return undefined;
    throw diskError(`${ownerFile(folder, number)} cannot be read`, error, 'then try again.');
  });
  if (text === undefined) return ownerOf(folder, here);
  const record = parseOwnerRecord(text);
  if (record === undefined) return { number, state: 'unreadable', facts: undefined, life: null };
  const { life, ...facts } = record;
  return { number, state: await stateOf(facts, here ?? (await identifyThisProcess())), facts, life };
}

/** The proof: whether a process that once was is still there, seen from here. */
async function stateOf(owner: ProcessIdentity, here: ProcessIdentity): Promise<OwnerState> {
  const sameBoot = owner.bootId === null || here.bootId === null ? undefined : owner.bootId === here.bootId;
  // A boot id is the machine's, whatever name it or one of its containers goes by.
  if (sameBoot !== true && owner.host !== here.host) return 'elsewhere';
  if (sameBoot === false) return 'gone';
  if (owner.namespace !== here.namespace) return 'elsewhere';
  const startTime = await readStartTime(owner.pid);
  if (startTime === undefined) return 'gone';
  return startTime === null || owner.startTime === null || startTime === owner.startTime ? 'alive' : 'gone';
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

/** The highest number there is; undefined if nobody ever owned the run, or all have given it free. */
function highestNumber(names: readonly string[]): number | undefined {
  const numbers = names.flatMap((name) => name.match(/^owner\.(\d+)$/)?.[1] ?? []).map(Number);
  return numbers.length === 0 ? undefined : Math.max(...numbers);
}

function removeAtOnce(file: string): void {
  try {
    unlinkSync(file);
  } catch {}
}

/** Read at once: to have it read in the background takes many times as long. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return [];
    throw diskError(`${folder} cannot be read`, error, 'then try again.');
  }
}

const ownerFile = (folder: string, number: number): string => join(folder, `owner.${number}`);

/** What an owner's file holds. */
interface OwnerRecord extends ProcessIdentity {
  /** Null in one that was made before lives had names. */
  readonly life: string | null;
}

const RECORD: z.ZodType<OwnerRecord> = z.object({
  pid: z.number().int().positive(),
  startTime: z.string().nullable(),
  bootId: z.string().nullable(),
  namespace: z.string().nullable(),
  host: z.string(),
  life: z
    .string()
    .regex(/^[0-9a-f]+$/)
    .nullable()
    .default(null),
});

function parseOwnerRecord(text: string): OwnerRecord | undefined {
  return RECORD.safeParse(tryParseJson(text)).data;
}

function ownedByOtherError(folder: string, { number, state, facts }: Owner): RaymondError {
  const run = basename(folder);
  const takeOver = `go on with \`raymond resume ${run} --take-over\``;
  if (facts === undefined) {
    const message = `Nobody knows who drives the run ${run}: ${ownerFile(folder, number)} cannot be read.`;
    return new RaymondError(message, { exitCode: EXIT.usage, hint: `If nobody does any more, ${takeOver}.` });
  }
  if (state === 'alive') {
    return new RaymondError(`The run ${run} is driven by process ${facts.pid}, which is alive.`, {
      exitCode: EXIT.usage,
      hint: `Wait for it, or stop it: \`raymond stop ${run}\`.`,
    });
  }
  return new RaymondError(
    `The run ${run} was last driven by process ${facts.pid} on ${facts.host}, out of our sight.`,
    {
      exitCode: EXIT.usage,
      hint: `If that process is no more, ${takeOver}.`,
    },
  );
}

import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { EXIT, RaymondError } from '../errors.ts';
import { identifyThisProcess, type ProcessIdentity, readStartTime } from '../store/process-identity.ts';
import type { Database } from './database.ts';

/** A worker that was not heard of for this long is taken for gone. */
export const DEADLINE_MS = 30_000;
const BEAT_EVERY_MS = 2_000;

/** A worker as it presents itself. */
export interface WorkerFacts {
  readonly name: string;
  readonly slots: number;
  readonly labels: readonly string[];
}

/** The right to a worker's name, which nobody else has at the same time. */
export interface WorkerName {
  readonly identity: ProcessIdentity;
  /** Whether nobody else has taken it meanwhile. */
  isMine(): Promise<boolean>;
  /** Tells the others that this worker takes nothing new. */
  leave(): Promise<void>;
  /** Gives the name up. */
  release(): Promise<void>;
}

/**
 * Takes the name of a worker, before anything is done in that name: a second process would drive the same runs. Then shows from time
 * to time that this worker lives; `onLost` is called if somebody else has the name, because we were silent for too long.
 */
export async function claimWorkerName(
  database: Database,
  { name, slots, labels }: WorkerFacts,
  onLost: () => void,
): Promise<WorkerName> {
  const identity = await identifyThisProcess();
  const token = randomUUID();
  await database.whenReachable(() =>
    database.transaction(async (client) => {
      const { rows } = await client.query<HolderRow>(
        `select token, host, pid, identity, extract(epoch from now() - beat_at)::float * 1000 as silent_ms
         from raymond.workers where name = $1 for update`,
        [name],
      );
      const [holder] = rows;
      if (holder !== undefined && holder.token !== token && !(await isGone(holder, identity)))
        throw nameInUseError(name, holder);
      await client.query(
        `insert into raymond.workers (name, token, host, pid, identity, slots, labels) values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (name) do update set token = $2, host = $3, pid = $4, identity = $5, slots = $6, labels = $7,
           leaving = false, started_at = now(), beat_at = now()`,
        [name, token, identity.host, identity.pid, JSON.stringify(identity), slots, labels],
      );
    }),
  );
  const beat = async (): Promise<void> => {
    const rows = await database.query(
      'update raymond.workers set beat_at = now() where name = $1 and token = $2 returning name',
      [name, token],
    );
    if (rows.length === 0) onLost();
  };
  // It depends on nothing but the clock: an agent may be silent for many minutes.
  const timer = setInterval(() => beat().catch(() => {}), BEAT_EVERY_MS);
  const change = async (sql: string): Promise<void> => {
    await database.query(`${sql} where name = $1 and token = $2`, [name, token]).catch(() => {});
  };
  return {
    identity,
    async isMine() {
      const sql = 'select 1 from raymond.workers where name = $1 and token = $2';
      return (await database.whenReachable(() => database.query(sql, [name, token]))).length > 0;
    },
    leave: () => change('update raymond.workers set leaving = true'),
    async release() {
      clearInterval(timer);
      await change('delete from raymond.workers');
    },
  };
}

interface HolderRow {
  readonly token: string;
  readonly host: string;
  readonly pid: number;
  readonly identity: string;
  readonly silent_ms: number;
}

const IDENTITY: z.ZodType<ProcessIdentity> = z.object({
  pid: z.number(),
  startTime: z.string().nullable(),
  bootId: z.string().nullable(),
  namespace: z.string().nullable(),
  host: z.string(),
});

/** Whether the process that has a name is gone: it was silent for too long, or it is no longer there on this machine. */
async function isGone({ identity, silent_ms: silentMs }: HolderRow, here: ProcessIdentity): Promise<boolean> {
  if (silentMs > DEADLINE_MS) return true;
  const { data } = IDENTITY.safeParse(JSON.parse(identity));
  if (data === undefined || data.host !== here.host) return false;
  if (data.bootId !== null && here.bootId !== null && data.bootId !== here.bootId) return data.namespace !== null;
  if (data.namespace !== here.namespace) return false;
  const startTime = await readStartTime(data.pid);
  return startTime === undefined || (startTime !== null && data.startTime !== null && startTime !== data.startTime);
}

const nameInUseError = (name: string, { host, pid, silent_ms: silentMs }: HolderRow): RaymondError =>
  new RaymondError(`The worker name ${name} is in use by process ${pid} on ${host}.`, {
    exitCode: EXIT.usage,
    hint: `It was last heard of ${Math.round(silentMs / 1000)} s ago. Choose another --name, or stop that worker first; one that is gone gives its name free after ${
      DEADLINE_MS / 1000
    } s.`,
  });

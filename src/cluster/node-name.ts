import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { NodeInfo } from '../app/launcher.ts';
import { recordedTurn } from '../core/run/agent.ts';
import { observeAgent } from '../core/run/status.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { tryParseJson } from '../language/text/json.ts';
import { startStopwatch } from '../process/clock.ts';
import { identifyThisProcess, isProcessAlive, type ProcessIdentity } from '../process/identity.ts';
import { type Database, IS_ALIVE, isNear } from '../storage/postgres/database.ts';
import type { RunCatalog } from '../storage/storage.ts';

/*
 * A worker shows every two seconds that it lives. One that was silent for longer than `worker_deadline`, by the clock of the database,
 * is gone. It may only have been cut off, as all others may have been at the same time: who judges others must itself have been heard
 * of without a gap for as long (`steady_since`).
 */

const BEAT_EVERY_MS = 2_000;
/** So often it must be heard of before its deadline, whatever that is. */
const BEATS_PER_DEADLINE = 6;

/**
 * Forgets workers that were silent for 30 days, with what they were to remove; the rows are their names. One that has no row is gone,
 * like one that is silent. In containers each start may have a name of its own.
 */
export const FORGET_WORKERS = `with forgotten as (
  delete from raymond.nodes where heartbeat_at < now() - interval '30 days' returning name
), removals as (
  delete from raymond.removals where worker in (select name from forgotten)
) select name from forgotten`;

/** A worker as it presents itself. */
export interface WorkerFacts {
  readonly name: string;
  readonly slots: number;
  readonly labels: readonly string[];
}

/** The right to a worker's name, which nobody else has at the same time. */
export interface NodeName {
  readonly identity: ProcessIdentity;
  /** Tells this holder of the name from others. */
  readonly token: string;
  /** How often this process was not heard of for so long that somebody may have taken it for gone, up to now. */
  countMissedHeartbeats(): number;
  /** True if nobody else has taken it meanwhile. */
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
export async function acquireNodeName(
  database: Database,
  { name, slots, labels }: WorkerFacts,
  onLost: () => void,
): Promise<NodeName> {
  const identity = await identifyThisProcess();
  const token = randomUUID();
  const [{ ms: deadlineMs } = { ms: 0 }] = await database.retryUntilReachable(() =>
    database.query<{ ms: number }>('select extract(epoch from worker_deadline)::float * 1000 as ms from raymond.about'),
  );
  let steadySince = await database.retryUntilReachable(() =>
    database.transaction(async (client) => {
      // A name that nobody has had has no row to lock, and two may take it at the same moment.
      await client.query(
        `insert into raymond.nodes (name, token, host, pid, identity, slots) values ($1, '', '', 0, '{}', 1)
         on conflict do nothing`,
        [name],
      );
      const { rows } = await client.query<HolderRow>(
        `select token, host, pid, identity, ${IS_ALIVE} as is_alive,
           extract(epoch from now() - heartbeat_at)::float * 1000 as silent_ms
         from raymond.nodes where name = $1 for update`,
        [name],
      );
      const [holder] = rows;
      if (holder !== undefined && holder.token !== token && !(await isGone(holder, identity)))
        throw nameInUseError(name, holder, deadlineMs);
      const { rows: claimed } = await client.query<SteadyRow>(
        `insert into raymond.nodes (name, token, host, pid, identity, slots, labels) values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (name) do update set token = $2, host = $3, pid = $4, identity = $5, slots = $6, labels = $7,
           draining = false, started_at = now(), steady_since = now(), heartbeat_at = now()
         returning steady_since::text`,
        [name, token, identity.host, identity.pid, JSON.stringify(identity), slots, labels],
      );
      return claimed[0]?.steady_since;
    }),
  );
  let silentMs = startStopwatch();
  let gaps = 0;
  const isOverdue = (): boolean => silentMs() > deadlineMs / 2;
  const beat = async (): Promise<void> => {
    const sentMs = startStopwatch();
    const [row] = await database.query<SteadyRow>(
      `update raymond.nodes set heartbeat_at = now(),
         steady_since = case when ${isNear(2)} then steady_since else now() end
       where name = $1 and token = $2 returning steady_since::text`,
      [name, token],
    );
    if (row === undefined) return onLost();
    // Whatever it looks like from here, others go by what the database has seen.
    if (isOverdue() || row.steady_since !== steadySince) gaps += 1;
    [silentMs, steadySince] = [sentMs, row.steady_since];
  };
  // It depends on nothing but the clock: an agent may be silent for many minutes.
  const timer = setInterval(() => beat().catch(() => {}), Math.min(BEAT_EVERY_MS, deadlineMs / BEATS_PER_DEADLINE));
  const change = async (sql: string): Promise<void> => {
    await database.query(`${sql} where name = $1 and token = $2`, [name, token]).catch(() => {});
  };
  return {
    identity,
    token,
    countMissedHeartbeats: () => gaps + (isOverdue() ? 1 : 0),
    async isMine() {
      const sql = 'select 1 from raymond.nodes where name = $1 and token = $2';
      return (await database.retryUntilReachable(() => database.query(sql, [name, token]))).length > 0;
    },
    leave: () => change('update raymond.nodes set draining = true'),
    async release() {
      clearInterval(timer);
      await change(`update raymond.nodes set token = '', draining = true, heartbeat_at = now()`);
    },
  };
}

interface SteadyRow {
  readonly steady_since: string;
}

interface HolderRow {
  readonly token: string;
  readonly host: string;
  readonly pid: number;
  readonly identity: string;
  readonly is_alive: boolean;
  readonly silent_ms: number;
}

const IDENTITY: z.ZodType<ProcessIdentity> = z.object({
  pid: z.number(),
  startTime: z.string().nullable(),
  bootId: z.string().nullable(),
  namespace: z.string().nullable(),
  host: z.string(),
});

/** True if the process that has a name is gone: it has ended, it was silent for too long, or it is no longer there on this machine. */
async function isGone({ identity, is_alive: isAlive }: HolderRow, here: ProcessIdentity): Promise<boolean> {
  if (!isAlive) return true;
  const { data } = IDENTITY.safeParse(tryParseJson(identity));
  if (data === undefined || data.host !== here.host) return false;
  if (data.bootId !== null && here.bootId !== null && data.bootId !== here.bootId) return data.namespace !== null;
  if (data.namespace !== here.namespace) return false;
  return !(await isProcessAlive(data));
}

const nameInUseError = (
  name: string,
  { host, pid, silent_ms: silentMs }: HolderRow,
  deadlineMs: number,
): RaymondError =>
  new RaymondError(`The worker name ${name} is in use by process ${pid} on ${host}.`, {
    exitCode: EXIT.usage,
    hint: `It was last heard of ${Math.round(silentMs / 1000)} s ago. Choose another --name, or stop that worker first; one that is gone gives its name free after ${
      deadlineMs / 1000
    } s.`,
  });

interface NodeRow {
  readonly name: string;
  readonly host: string;
  readonly token: string;
  readonly labels: readonly string[];
  readonly draining: boolean;
  readonly is_alive: boolean;
  readonly slots: number;
  readonly silent_ms: number;
}

/** Lists the nodes of a database by name, with what they do at this moment. */
export async function listNodes(database: Database, runs: RunCatalog): Promise<readonly NodeInfo[]> {
  const rows = await database.query<NodeRow>(
    `select name, host, token, labels, draining, coalesce(${IS_ALIVE}, false) as is_alive, slots,
       greatest(0, extract(epoch from now() - heartbeat_at))::float * 1000 as silent_ms
     from raymond.nodes order by name`,
  );
  const driven = await database.query<{ id: string; driver: string | null }>(
    `select id, driver from raymond.runs where status = 'running'`,
  );
  const prompts = new Map<string, { running: number; queued: number }>();
  for (const { id, driver } of driven) {
    // A run that cannot be read, or is gone by now, occupies no slot that we know of.
    const observed = await runs.observe(id).catch(() => null);
    for (const agent of observed?.run.agents ?? []) {
      const node = agent.node ?? driver;
      if (node === null || (recordedTurn(agent.phase)?.session ?? null) === null) continue;
      const counts = prompts.get(node) ?? { running: 0, queued: 0 };
      counts[observeAgent(agent, observed?.queued) === 'queued' ? 'queued' : 'running'] += 1;
      prompts.set(node, counts);
    }
  }
  return rows.map((row) => {
    const { name, host, labels, slots } = row;
    return {
      name,
      host,
      status: statusOf(row),
      labels,
      slots,
      ...((row.is_alive && prompts.get(name)) || { running: 0, queued: 0 }),
      runs: driven.filter(({ driver }) => driver === name).length,
      silentMs: Math.round(row.silent_ms),
    };
  });
}

function statusOf({ token, draining, is_alive: isAlive }: NodeRow): NodeInfo['status'] {
  if (token === '') return 'stopped';
  if (!isAlive) return 'gone';
  return draining ? 'draining' : 'alive';
}

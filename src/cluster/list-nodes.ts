import type { NodeInfo } from '../app/launcher.ts';
import { recordedTurn } from '../core/run/agent.ts';
import { observeAgent } from '../core/run/observed-status.ts';
import type { Database } from '../storage/postgres/database.ts';
import { IS_ALIVE } from '../storage/postgres/liveness.ts';
import type { RunCatalog } from '../storage/storage.ts';

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

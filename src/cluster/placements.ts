import { z } from 'zod';
import type { PublishedCommit } from '../core/turns/worktree-turns.ts';
import type { Database } from '../storage/postgres/database.ts';
import { IS_ALIVE } from '../storage/postgres/liveness.ts';
import { PLACE_LOCK } from '../storage/postgres/locks.ts';
import { parseRow } from '../storage/postgres/parse-row.ts';

/*
 * An agent with a worktree of its own, in a run that works in a clone, may be at home with any worker. The choice is made once, and is
 * a row: whoever drives the run after a crash finds it.
 */

/** The home that was chosen for an agent, and the commit that it begins at, once that is published. */
export interface Placement {
  readonly home: string;
  readonly published: PublishedCommit | null;
}

/** An agent that gets a home. */
export interface NewAgent {
  readonly run: string;
  readonly agent: string;
  readonly parentHome: string;
}

const PUBLISHED: z.ZodType<PublishedCommit> = z.looseObject({
  base: z.string(),
  remote: z.string(),
  prefix: z.string(),
});

interface PlacementRow {
  readonly home: string;
  readonly published: string | null;
}

/** The placement of an agent; undefined if there is none. */
export async function findPlacement(database: Database, run: string, agent: string): Promise<Placement | undefined> {
  const [row] = await database.query<PlacementRow>(
    'select home, published from raymond.placements where run = $1 and agent = $2',
    [run, agent],
  );
  if (row === undefined) return undefined;
  const place = `The commit of ${run}/${agent} in raymond.placements of ${database.name}`;
  return { home: row.home, published: row.published === null ? null : parseRow(PUBLISHED, row.published, place) };
}

/**
 * Chooses a home for an agent, unless it has one: of the workers that are alive and have the labels of the run, that with the fewest
 * runs and agents for its slots. If there are several, or none, it stays with its parent.
 */
export async function placeAgent(database: Database, { run, agent, parentHome }: NewAgent): Promise<Placement> {
  await database.transaction(async (client) => {
    // One after the other, so that many agents at once are spread over the workers.
    await client.query('select pg_advisory_xact_lock($1)', [PLACE_LOCK]);
    await client.query(
      `insert into raymond.placements (run, agent, home)
       select $1, $2, coalesce((
         select name from raymond.nodes
         where not draining and labels @> (select labels from raymond.runs where id = $1) and ${IS_ALIVE}
         order by (
           (select count(*) from raymond.runs where driver = name and status = 'running') +
           (select count(*) from raymond.placements join raymond.runs on id = run where home = name and status = 'running')
         )::float / slots, name <> $3, name
         limit 1
       ), $3)
       on conflict do nothing`,
      [run, agent, parentHome],
    );
  });
  return (await findPlacement(database, run, agent)) ?? { home: parentHome, published: null };
}

/** Chooses another home for an agent whose worker has gone before it could begin there. */
export async function placeAgain(database: Database, agent: NewAgent, { home, published }: Placement): Promise<void> {
  await database.query('delete from raymond.placements where run = $1 and agent = $2 and home = $3', [
    agent.run,
    agent.agent,
    home,
  ]);
  const placement = await placeAgent(database, agent);
  await notePublished(database, agent.run, agent.agent, { home: placement.home, published });
}

/** Notes that the commit is published that an agent begins at; without one, it stays where its parent is. */
export async function notePublished(
  database: Database,
  run: string,
  agent: string,
  { home, published }: Placement,
): Promise<void> {
  await database.query('update raymond.placements set home = $3, published = $4 where run = $1 and agent = $2', [
    run,
    agent,
    home,
    published && JSON.stringify(published),
  ]);
}

/** Forgets an agent that has left its worktree. */
export async function deletePlacement(database: Database, run: string, agent: string): Promise<void> {
  await database.query('delete from raymond.placements where run = $1 and agent = $2', [run, agent]);
}

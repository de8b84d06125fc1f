import { z } from 'zod';
import type { Signal } from '../core/signals/signal.ts';
import type { PublishedCommit, WorktreeTurn } from '../core/turns/worktree-turns.ts';
import { type Database, IS_ALIVE, PLACE_LOCK } from '../storage/postgres/database.ts';
import { parseRow } from '../storage/postgres/parse-row.ts';

/*
 * An agent with a worktree of its own, in a run that works in a clone, may be at home with any worker. The choice is made once, and is
 * a row: the driver after a crash finds it.
 */

/** The home that was chosen for an agent, and the commit that it begins at, once that is published. */
interface Placement {
  readonly home: string;
  readonly published: PublishedCommit | null;
}

/** An agent that gets a home. */
interface NewAgent {
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
async function placeAgent(database: Database, { run, agent, parentHome }: NewAgent): Promise<Placement> {
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
async function placeAgain(database: Database, agent: NewAgent, { home, published }: Placement): Promise<void> {
  await database.query('delete from raymond.placements where run = $1 and agent = $2 and home = $3', [
    agent.run,
    agent.agent,
    home,
  ]);
  const placement = await placeAgent(database, agent);
  await recordPublished(database, agent.run, agent.agent, { home: placement.home, published });
}

/** Notes that the commit is published that an agent begins at; without one, it stays where its parent is. */
async function recordPublished(
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
async function deletePlacement(database: Database, run: string, agent: string): Promise<void> {
  await database.query('delete from raymond.placements where run = $1 and agent = $2', [run, agent]);
}

/** Takes a turn where `turn.home` says. */
type TakeTurn = (turn: WorktreeTurn) => Promise<Signal | null>;

/**
 * Takes the turns about the worktree of an agent in a run that works in a clone: the agent may get another home than its parent. Then
 * its parent's worker publishes the commit that it begins at, and its own clones that. It may be done again after a crash at any
 * instant.
 */
export async function spreadWorktree(
  database: Database,
  run: string,
  turn: WorktreeTurn,
  take: TakeTurn,
  warn: (message: string) => void,
): Promise<Signal | null> {
  const { agent, node: parentHome, isWanted, place } = turn;
  if (turn.workspace === undefined || parentHome === null) return take(turn);
  const forget = async (signal: Signal | null): Promise<Signal | null> => {
    if (signal !== null && !isWanted) await deletePlacement(database, run, agent).catch(() => {});
    return signal;
  };
  if (place !== null) return forget(await take(turn));
  const placement = await database.retryUntilReachable(() =>
    isWanted ? placeAgent(database, { run, agent, parentHome }) : findPlacement(database, run, agent),
  );
  if (placement === undefined || placement.home === parentHome) return forget(await take(turn));
  let { published } = placement;
  if (published === null) {
    if (!isWanted) return forget(await take(turn));
    const signal = await take({ ...turn, transfer: { kind: 'publish' } });
    if (signal === null) return null;
    if (signal.kind === 'worktree_made') {
      const { base, remote = '' } = signal.place;
      published = { base, remote, prefix: signal.cwd };
    }
    // Work that cannot be published continues where it is.
    const home = published === null ? parentHome : placement.home;
    await database.retryUntilReachable(() => recordPublished(database, run, agent, { home, published }));
    if (published === null) {
      const reason = signal.kind === 'worktree_refused' ? `: ${signal.message}` : '';
      warn(`${agent} stays on ${parentHome}: its commit could not be pushed for ${placement.home}${reason}`);
      return take(turn);
    }
  }
  const { home } = placement;
  const signal = await take({ ...turn, node: home, transfer: { kind: 'clone', ...published } });
  if (signal?.kind === 'home_lost' && isWanted) {
    await database.retryUntilReachable(() => placeAgain(database, { run, agent, parentHome }, { home, published }));
    return spreadWorktree(database, run, turn, take, warn);
  }
  // Half-made remains there do no harm.
  if (signal?.kind === 'home_lost')
    return forget({ kind: 'worktree_closed', at: signal.at, agent, content: NOTHING_LEFT });
  return forget(signal?.kind === 'worktree_made' ? { ...signal, home } : signal);
}

const NOTHING_LEFT = { kept: false, commits: 0, dirty: false };

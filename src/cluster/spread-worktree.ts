import type { Signal } from '../core/signals/signal.ts';
import type { WorktreeTurn } from '../core/turns/worktree-turns.ts';
import type { Database } from '../storage/postgres/database.ts';
import { deletePlacement, findPlacement, notePublished, placeAgain, placeAgent } from './placements.ts';

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
    await database.retryUntilReachable(() => notePublished(database, run, agent, { home, published }));
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

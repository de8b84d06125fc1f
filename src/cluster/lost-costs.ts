import { setTimeout as delay } from 'node:timers/promises';
import { withChange } from '../core/run/change.ts';
import type { CostReport } from '../core/run/ledger.ts';
import type { Run } from '../core/run/run.ts';
import type { CostFound, Noticed } from '../core/signals/signal.ts';
import { step } from '../core/step.ts';
import { END_GRACE_MS, endTurn } from '../process/end.ts';
import type { Database } from '../storage/postgres/database.ts';
import { createDatabaseLeases } from '../storage/postgres/lease.ts';
import { parseEachRow, parseRow } from '../storage/postgres/parse-row.ts';
import { deleteTurn, keyOf, type RemoteTurn } from '../storage/postgres/remote-turn-rows.ts';
import { COST_SCHEMA } from '../storage/postgres/signal-schema.ts';
import { findTurnPlace, readTurnCost, type TurnPlaces } from '../turns/found-cost.ts';
import { type Finder, findTurnFolders } from './orphaned-turns.ts';

/*
 * A turn that was withdrawn from a worker that is gone counts with its share of the budget. Its row stays: when the worker is back, it
 * reads what the turn has cost and puts that into the row. The driver of the run enters it; if the run has ended, the worker does.
 */

type LostTurn = Omit<RemoteTurn, 'node'>;

/** Reports what turns have cost that were withdrawn from this worker, once nothing of them runs any more. */
export async function reportLostCosts(finder: Finder): Promise<void> {
  const { database, name } = finder;
  const lost = await database.query<LostTurn & { readonly mark: string | null }>(
    `select run, agent, turn, mark from raymond.remote_turns join raymond.runs on id = run
     where node = $1 and withdrawn and outcome is null and turn ~ '^[0-9]+$'`,
    [name],
  );
  for (const { mark, ...turn } of lost) {
    // Unreadable files are read again later.
    const cost = await findCost(finder, turn, mark).catch(() => null);
    if (cost !== null) await storeCost(database, turn, cost);
  }
  const entered = await database.query<{ readonly run: string }>(
    `select distinct run from raymond.remote_turns join raymond.runs on id = run
     where node = $1 and withdrawn and outcome is not null and status <> 'running'`,
    [name],
  );
  for (const { run } of entered) await enterInEndedRun(database, run, finder.warn);
}

/** Reads the cost of a turn that began here; null if it has left nothing that tells it. */
async function findCost(
  { layout, warn }: Finder,
  { run, agent, turn }: LostTurn,
  mark: string | null,
): Promise<CostReport | null> {
  const [folder] = findTurnFolders(layout, run, agent, Number(turn));
  if (folder === undefined) return null;
  const ref = { agent, number: Number(turn), state: '' };
  const places: TurnPlaces = {
    runMarker: `${run}/${mark ?? run}`,
    conversationFolder: (opener) => layout.conversationFolder(run, opener),
    folderOf: () => folder,
    warn: (_, message) => warn(message),
  };
  const { dir, marker } = findTurnPlace(places, ref, folder);
  await endTurn(dir, marker, { graceMs: END_GRACE_MS });
  return (await readTurnCost(places, ref, folder)).cost;
}

/** The first report of a turn counts, should its worker be back twice. */
const storeCost = (database: Database, { run, agent, turn }: LostTurn, cost: CostReport): Promise<unknown> =>
  database.query(
    `update raymond.remote_turns set outcome = $4
     where run = $1 and agent = $2 and turn = $3 and withdrawn and outcome is null`,
    [run, agent, turn, JSON.stringify(cost)],
  );

/** The costs that nodes have reported for lost turns of a run; a broken row is only reported. */
async function selectFound(
  database: Pick<Database, 'query'>,
  { id, ledger }: Run,
  report: (message: string, turn: LostTurn) => void,
): Promise<readonly FoundCost[]> {
  const rows = await database.query<LostTurn & { readonly outcome: string }>(
    'select run, agent, turn, outcome from raymond.remote_turns where run = $1 and withdrawn and outcome is not null',
    [id],
  );
  const parse = ({ outcome, ...turn }: (typeof rows)[number]): FoundCost => ({
    turn,
    cost: parseRow(COST_SCHEMA, outcome, `The cost of ${keyOf(turn)} in raymond.remote_turns`),
  });
  const awaited = rows.filter((row) => isAwaited(ledger, row));
  return parseEachRow(awaited, parse, report);
}

const isAwaited = ({ unknown = [] }: Run['ledger'], { agent, turn }: LostTurn): boolean =>
  unknown.some((each) => each.agent === agent && String(each.turn) === turn);

interface FoundCost {
  readonly turn: LostTurn;
  readonly cost: CostReport;
}

const toSignal = ({ turn: { agent, turn }, cost }: FoundCost, at: number): CostFound => ({
  kind: 'cost_found',
  at,
  about: { agent },
  turn: Number(turn),
  cost,
});

/** Enters what was found in a run that has ended. If the run is resumed meanwhile, its driver enters it. */
async function enterInEndedRun(database: Database, id: string, warn: (message: string) => void): Promise<void> {
  const lease = await createDatabaseLeases(database).acquire(id);
  let { run } = lease;
  for (const found of run.status === 'running' ? [] : await selectFound(database, run, warn)) {
    const next = step(run, toSignal(found, database.clock.now()));
    await lease.append([withChange(run, next)]);
    await deleteTurn(database, found.turn);
    run = next.run;
  }
  await lease.release();
}

const POLL_INTERVAL_MS = 1_000;

/** Looks for what lost turns of a run have cost, as long as its ledger waits for that. */
export class FoundCosts {
  private readonly database: Database;
  private readonly send: (signal: CostFound | Noticed) => void;
  private readonly over: AbortSignal;
  private readonly sent = new Map<string, LostTurn>();
  private latest: Run;
  private isPolling = false;

  constructor(database: Database, run: Run, send: (signal: CostFound | Noticed) => void, over: AbortSignal) {
    this.database = database;
    this.send = send;
    this.over = over;
    this.latest = run;
  }

  /** Takes in the run as it is saved now, and removes the rows of turns whose cost it has. */
  update(run: Run): void {
    this.latest = run;
    for (const [key, turn] of this.sent) {
      if (isAwaited(run.ledger, turn)) continue;
      this.sent.delete(key);
      // Best effort; the run's removal deletes it.
      deleteTurn(this.database, turn).catch(() => {});
    }
    if (!this.isPolling && run.ledger.unknown !== undefined) this.poll();
  }

  private readonly report = (message: string, turn: LostTurn): void => {
    const key = `${turn.agent}/${turn.turn}`;
    const entry = this.latest.ledger.unknown?.find(
      (each) => each.agent === turn.agent && String(each.turn) === turn.turn,
    );
    if (this.sent.has(key) || entry === undefined) return;
    this.sent.set(key, turn);
    const about = { agent: turn.agent, state: entry.state };
    this.send({ kind: 'noticed', at: this.database.clock.now(), about, message });
  };

  private async poll(): Promise<void> {
    this.isPolling = true;
    while (this.latest.ledger.unknown !== undefined && !this.over.aborted) {
      for (const found of await selectFound(this.database, this.latest, this.report).catch(() => [])) {
        const key = `${found.turn.agent}/${found.turn.turn}`;
        if (this.sent.has(key)) continue;
        this.sent.set(key, found.turn);
        this.send(toSignal(found, this.database.clock.now()));
      }
      await delay(POLL_INTERVAL_MS, undefined, { signal: this.over, ref: false }).catch(() => {});
    }
    this.isPolling = false;
  }
}

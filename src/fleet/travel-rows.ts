import type { PoolClient } from 'pg';
import type { Event } from '../core/event.ts';
import type { Signal } from '../core/signal.ts';
import type { Database } from './database.ts';

/*
 * A turn that another worker takes than the one that drives its run has a row, from the moment that it is queued until its end
 * is in the journal. Who drives the run writes into it what becomes of the turn's agent, and its worker how the turn ended.
 */

/** A turn on its way to the worker that its agent is at home with. */
export interface TravellingTurn {
  readonly run: string;
  readonly agent: string;
  /** Its number; another name for a turn that has none, which is never used again. */
  readonly turn: string;
  readonly home: string;
}

/** How a turn ended on another worker: what was to be told before, and its end; null if it was dropped. */
export interface TurnOutcome {
  readonly signals: readonly Signal[];
  readonly end: Signal | null;
}

/** What is known of a turn that is on its way. */
export interface SentTurn {
  /** Whether its worker was given up: nobody takes it any more, and its end is not waited for. */
  readonly isWithdrawn: boolean;
  /** Whether it can surely not have begun anywhere. */
  readonly isUnbegun: boolean;
}

interface SentRow {
  readonly is_new: boolean;
  readonly withdrawn: boolean;
  readonly boot: string | null;
}

const toSentTurn = ({ is_new: isNew, withdrawn, boot }: SentRow): SentTurn => ({
  isWithdrawn: withdrawn,
  isUnbegun: isNew && boot === null,
});

/**
 * Puts a turn on its way, as a part of a transaction; one that is on its way already, as each is that was put on record for another worker,
 * stays as it is. Any other may have begun where the run was driven before: `boot` is the boot of that machine, if it is known.
 */
export async function insertTurn(
  client: PoolClient,
  { run, agent, turn, home }: TravellingTurn,
  boot: string | null,
): Promise<SentTurn> {
  const { rows } = await client.query<SentRow>(
    `insert into raymond.travelling (run, agent, turn, home, is_new, boot) values ($1, $2, $3, $4, false, $5)
     on conflict (run, agent, turn) do update set run = excluded.run returning is_new, withdrawn, boot`,
    [run, agent, turn, home, boot],
  );
  return toSentTurn(rows[0] ?? { is_new: false, withdrawn: false, boot: null });
}

/** The turns of a run that are on their way, as `agent/turn`. Those without a number are taken anew, and forgotten. */
export async function selectTurnNames(database: Database, run: string): Promise<ReadonlySet<string>> {
  await database.query(`delete from raymond.travelling where run = $1 and turn !~ '^[0-9]+$'`, [run]);
  const rows = await database.query<{ name: string }>(
    `select agent || '/' || turn as name from raymond.travelling where run = $1`,
    [run],
  );
  return new Set(rows.map(({ name }) => name));
}

/** Forgets a turn whose end is in the journal. */
export async function deleteTurn(database: Database, { run, agent, turn }: TravellingTurn): Promise<void> {
  await database.query('delete from raymond.travelling where run = $1 and agent = $2 and turn = $3', [
    run,
    agent,
    turn,
  ]);
}

/**
 * Gives a turn up whose worker is gone: that worker takes it no more, and whatever it says of it does not count. Null if the turn has
 * ended before. The row stays, so that whoever drives the run after a crash knows.
 */
export async function withdrawTurn(
  database: Database,
  { run, agent, turn }: Omit<TravellingTurn, 'home'>,
): Promise<SentTurn | null> {
  const [row] = await database.query<SentRow>(
    `update raymond.travelling set withdrawn = true
     where run = $1 and agent = $2 and turn = $3 and outcome is null returning is_new, withdrawn, boot`,
    [run, agent, turn],
  );
  return row === undefined ? null : toSentTurn(row);
}

/** Notes why a worker cannot take a turn just now; null if it can. */
export async function noteProblem(
  database: Database,
  { run, agent, turn }: TravellingTurn,
  problem: string | null,
): Promise<void> {
  await database.query('update raymond.travelling set problem = $4 where run = $1 and agent = $2 and turn = $3', [
    run,
    agent,
    turn,
    problem,
  ]);
}

/**
 * Takes note that a turn has arrived, and returns the boot of the machine at its first arrival; undefined if nobody waits for
 * it any more.
 */
export async function acceptTurn(
  database: Database,
  { run, agent, turn, home }: TravellingTurn,
  boot: string,
): Promise<string | undefined> {
  const [row] = await database.query<{ boot: string }>(
    `update raymond.travelling set boot = coalesce(boot, $5)
     where run = $1 and agent = $2 and turn = $3 and home = $4 and outcome is null and not withdrawn returning boot`,
    [run, agent, turn, home, boot],
  );
  return row?.boot;
}

/** Stores how a turn ended; the first end counts. */
export async function storeOutcome(
  database: Database,
  { run, agent, turn, home }: TravellingTurn,
  outcome: TurnOutcome,
): Promise<void> {
  await database.query(
    `update raymond.travelling set outcome = $5, problem = null
     where run = $1 and agent = $2 and turn = $3 and home = $4 and outcome is null and not withdrawn`,
    [run, agent, turn, home, JSON.stringify(outcome)],
  );
}

/** The turns of these runs that have ended on other workers. */
export async function selectOutcomes(
  database: Database,
  runs: readonly string[],
): Promise<readonly (Omit<TravellingTurn, 'home'> & { readonly outcome: TurnOutcome })[]> {
  const rows = await database.query<{ run: string; agent: string; turn: string; outcome: string }>(
    'select run, agent, turn, outcome from raymond.travelling where run = any($1) and outcome is not null',
    [runs],
  );
  return rows.map((row) => ({ ...row, outcome: JSON.parse(row.outcome) as TurnOutcome }));
}

/** What the worker of a turn is told about it while it runs: something that happened to its agent, or null to end it. */
export interface TurnRequest {
  readonly id: string;
  readonly event: Event | null;
}

/** Tells the worker of a turn something; once for each id. */
export async function insertTurnRequest(
  database: Database,
  { run, agent, turn }: TravellingTurn,
  { id, event }: TurnRequest,
): Promise<void> {
  await database.query(
    `insert into raymond.turn_requests (run, agent, turn, id, event)
     select run, agent, turn, $4, $5 from raymond.travelling where run = $1 and agent = $2 and turn = $3
     on conflict do nothing`,
    [run, agent, turn, id, event && JSON.stringify(event)],
  );
}

/** Notes that a turn has got what was said to its agent, while it runs. */
export async function noteHeard(database: Database, run: string, agent: string, said: string): Promise<void> {
  await database.query('update raymond.turn_requests set heard = true where run = $1 and agent = $2 and id = $3', [
    run,
    agent,
    said,
  ]);
}

/** What the turns of these runs have got, as they run on other workers. */
export const selectHeard = (
  database: Database,
  runs: readonly string[],
): Promise<readonly (Omit<TravellingTurn, 'home'> & { readonly id: string })[]> =>
  database.query('select run, agent, turn, id from raymond.turn_requests where run = any($1) and heard', [runs]);

/** What a worker is told about the turns that run there. */
export async function selectTurnRequests(
  database: Database,
  home: string,
): Promise<readonly (Omit<TravellingTurn, 'home'> & TurnRequest)[]> {
  const rows = await database.query<{ run: string; agent: string; turn: string; id: string; event: string | null }>(
    `select run, agent, turn, id, event from raymond.turn_requests join raymond.travelling using (run, agent, turn)
     where home = $1 and outcome is null`,
    [home],
  );
  return rows.map((row) => ({ ...row, event: row.event === null ? null : (JSON.parse(row.event) as Event) }));
}

/** The name of a turn among all runs. */
export const keyOf = ({ run, agent, turn }: Omit<TravellingTurn, 'home'>): string => `${run}/${agent}/${turn}`;

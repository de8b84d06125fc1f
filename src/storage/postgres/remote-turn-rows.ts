import type { PoolClient } from 'pg';
import { z } from 'zod';
import type { Command } from '../../core/command.ts';
import type { Signal } from '../../core/signals/signal.ts';
import type { TurnName } from '../storage.ts';
import { type Database, IS_ALIVE } from './database.ts';
import { parseEachRow, parseRow } from './parse-row.ts';
import { SIGNAL_SCHEMA, TOLD_COMMAND_SCHEMA } from './signal-schema.ts';

/*
 * A turn that another worker takes than the one that drives its run has a row, from the moment that it is queued until its end
 * is in the journal. Who drives the run writes into it what becomes of the turn's agent, and its worker how the turn ended.
 */

/** A turn on its way to the worker that its agent is at home with. */
export interface RemoteTurn {
  readonly run: string;
  readonly agent: string;
  /** Its number; another name for a turn that has none, which is never used again. */
  readonly turn: string;
  readonly node: string;
}

/** How a turn ended on another worker: what was to be told before, and its end; null if it was dropped. */
export interface TurnOutcome {
  readonly signals: readonly Signal[];
  readonly end: Signal | null;
}

/** The state of a remote turn. */
export interface SentTurn {
  /** True if its worker was given up: nobody takes it any more, and its end is not waited for. */
  readonly isWithdrawn: boolean;
  /** True if it can surely not have begun anywhere. */
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
  { run, agent, turn, node }: RemoteTurn,
  boot: string | null,
): Promise<SentTurn> {
  const { rows } = await client.query<SentRow>(
    `insert into raymond.remote_turns (run, agent, turn, node, is_new, boot) values ($1, $2, $3, $4, false, $5)
     on conflict (run, agent, turn) do update set run = excluded.run returning is_new, withdrawn, boot`,
    [run, agent, turn, node, boot],
  );
  return toSentTurn(rows[0] ?? { is_new: false, withdrawn: false, boot: null });
}

/** The turns of a run that are on their way, as `agent/turn`. Those without a number are taken anew, and forgotten. */
export async function selectTurnNames(database: Database, run: string): Promise<ReadonlySet<string>> {
  await database.query(`delete from raymond.remote_turns where run = $1 and turn !~ '^[0-9]+$'`, [run]);
  const rows = await database.query<{ name: string }>(
    `select agent || '/' || turn as name from raymond.remote_turns where run = $1`,
    [run],
  );
  return new Set(rows.map(({ name }) => name));
}

/** Forgets a turn whose end is in the journal. */
export async function deleteTurn(
  database: Pick<Database, 'query'>,
  { run, agent, turn }: Omit<RemoteTurn, 'node'>,
): Promise<void> {
  await database.query('delete from raymond.remote_turns where run = $1 and agent = $2 and turn = $3', [
    run,
    agent,
    turn,
  ]);
}

/**
 * Gives a turn up whose worker is gone: that worker takes it no more, and whatever it says of it does not count. Null if the turn has
 * ended before. The row stays, so that the next driver of the run knows.
 */
export async function withdrawTurn(
  database: Database,
  { run, agent, turn }: Omit<RemoteTurn, 'node'>,
): Promise<SentTurn | null> {
  const [row] = await database.query<SentRow>(
    `update raymond.remote_turns set withdrawn = true
     where run = $1 and agent = $2 and turn = $3 and outcome is null returning is_new, withdrawn, boot`,
    [run, agent, turn],
  );
  return row === undefined ? null : toSentTurn(row);
}

/** Notes why a worker cannot take a turn just now; null if it can. */
export async function recordProblem(
  database: Database,
  { run, agent, turn }: RemoteTurn,
  problem: string | null,
): Promise<void> {
  await database.query('update raymond.remote_turns set problem = $4 where run = $1 and agent = $2 and turn = $3', [
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
  { run, agent, turn, node }: RemoteTurn,
  boot: string,
): Promise<string | undefined> {
  const [row] = await database.query<{ boot: string }>(
    `update raymond.remote_turns set boot = coalesce(boot, $5)
     where run = $1 and agent = $2 and turn = $3 and node = $4 and outcome is null and not withdrawn returning boot`,
    [run, agent, turn, node, boot],
  );
  return row?.boot;
}

/** Stores how a turn ended; the first end counts. */
export async function storeOutcome(
  database: Database,
  { run, agent, turn, node }: RemoteTurn,
  outcome: TurnOutcome,
): Promise<void> {
  await database.query(
    `update raymond.remote_turns set outcome = $5, problem = null
     where run = $1 and agent = $2 and turn = $3 and node = $4 and outcome is null and not withdrawn`,
    [run, agent, turn, node, JSON.stringify(outcome)],
  );
}

const OUTCOME: z.ZodType<TurnOutcome> = z.strictObject({
  signals: z.array(SIGNAL_SCHEMA),
  end: SIGNAL_SCHEMA.nullable(),
});

/** The turns of these runs that have ended on other workers; one whose outcome is broken is only reported. */
export async function selectOutcomes(
  database: Database,
  runs: readonly string[],
  report: (message: string) => void,
): Promise<readonly (Omit<RemoteTurn, 'node'> & { readonly outcome: TurnOutcome })[]> {
  const rows = await database.query<{ run: string; agent: string; turn: string; outcome: string }>(
    'select run, agent, turn, outcome from raymond.remote_turns where run = any($1) and outcome is not null and not withdrawn',
    [runs],
  );
  const parse = (row: (typeof rows)[number]) => ({
    ...row,
    outcome: parseRow(OUTCOME, row.outcome, `The outcome of ${keyOf(row)} in raymond.remote_turns of ${database.name}`),
  });
  return parseEachRow(rows, parse, report);
}

/** A request to the node of a running turn: a command, or null to end the turn. */
export interface TurnRequest {
  readonly id: string;
  readonly command: Command | null;
}

/** A row has the event that a command stems from: workers of earlier versions read and write these. */
const toEvent = ({ kind, id, ...command }: Command): object =>
  kind === 'message' ? { kind: 'said', said: id, ...command } : { kind: 'turn_interrupted', interrupt: id, ...command };

/** Tells the worker of a turn something; once for each id. */
export async function insertTurnRequest(
  database: Database,
  { run, agent, turn }: RemoteTurn,
  { id, command }: TurnRequest,
): Promise<void> {
  await database.query(
    `insert into raymond.turn_requests (run, agent, turn, id, event)
     select run, agent, turn, $4, $5 from raymond.remote_turns where run = $1 and agent = $2 and turn = $3
     on conflict do nothing`,
    [run, agent, turn, id, command && JSON.stringify(toEvent(command))],
  );
}

/** Notes that a turn has got what was said to its agent, while it runs. */
export async function recordDelivery(database: Database, run: string, agent: string, said: string): Promise<void> {
  await database.query('update raymond.turn_requests set heard = true where run = $1 and agent = $2 and id = $3', [
    run,
    agent,
    said,
  ]);
}

/** The messages that reached turns of these runs on other nodes. */
export const selectHeard = (
  database: Database,
  runs: readonly string[],
): Promise<readonly (Omit<RemoteTurn, 'node'> & { readonly id: string })[]> =>
  database.query('select run, agent, turn, id from raymond.turn_requests where run = any($1) and heard', [runs]);

/** The requests to the turns of a node; a broken row is only reported. */
export async function selectTurnRequests(
  database: Database,
  home: string,
  report: (message: string) => void,
): Promise<readonly (Omit<RemoteTurn, 'node'> & TurnRequest)[]> {
  const rows = await database.query<{ run: string; agent: string; turn: string; id: string; event: string | null }>(
    `select run, agent, turn, id, event from raymond.turn_requests join raymond.remote_turns using (run, agent, turn)
     where node = $1 and outcome is null`,
    [home],
  );
  const parse = ({ event, ...row }: (typeof rows)[number]) => {
    const place = `The event ${row.id} for ${keyOf(row)} in raymond.turn_requests of ${database.name}`;
    return { ...row, command: event === null ? null : parseRow(TOLD_COMMAND_SCHEMA, event, place) };
  };
  return parseEachRow(rows, parse, report);
}

/** The name of a turn among all runs. */
export const keyOf = ({ run, agent, turn }: Omit<RemoteTurn, 'node'>): string => `${run}/${agent}/${turn}`;

/*
 * A turn that waits for a slot of its node is on record as if it ran. Its node notes it among the rows of live output, which go
 * with the run, and when the node starts again.
 */

const FILE = 'queued';

/** Of a run `runs`: its turns that wait for a slot of a node which is alive, as agent and number. */
export const QUEUED_TURNS = `array(
    select agent || '/' || number from raymond.output
    where run = runs.id and file = '${FILE}' and worker in (select name from raymond.nodes where ${IS_ALIVE})
    order by 1
  )`;

/** The nodes' notes about their turns that wait for slots. */
export class QueuedTurns {
  private readonly database: Database;
  private readonly node: string;
  /** Notes of a turn reach the database in order. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(database: Database, node: string) {
    this.database = database;
    this.node = node;
  }

  /** Notes that a turn waits; the function that it returns, that it waits no longer. Neither keeps the turn waiting. */
  add = (run: string, { agent, number }: TurnName): (() => void) => {
    this.write(
      `insert into raymond.output (worker, run, agent, number, file, position, bytes) values ($4, $1, $2, $3, '${FILE}', 0, '')
       on conflict (run, agent, number, file, position) do update set worker = excluded.worker`,
      [run, agent, number, this.node],
    );
    return () =>
      this.write(
        `delete from raymond.output where run = $1 and agent = $2 and number = $3 and file = '${FILE}' and worker = $4`,
        [run, agent, number, this.node],
      );
  };

  private write(sql: string, values: readonly unknown[]): void {
    // Nothing depends on a note: one that cannot be written is left out.
    this.last = this.last
      .then(() => this.database.retryUntilReachable(() => this.database.query(sql, values)))
      .catch(() => {});
  }
}

import { errorCodeOf } from '../../errors.ts';
import { tryParseJson } from '../../language/text/json.ts';
import { noSuchRunError } from '../opened-run.ts';
import {
  formatContent,
  type InboxRequest,
  type PendingRequest,
  parseOutcome,
  parseRequest,
  type RequestOutcome,
} from '../requests.ts';
import type { RunInbox } from '../storage.ts';
import type { Database } from './database.ts';

/*
 * Each request is a row. Its primary key makes it the only one with its id, and only the node that drives the run settles it, after
 * the journal has it.
 */

/** The columns of a request. */
export const REQUEST_COLUMNS = 'requests.run, requests.id, requests.kind, requests.by, requests.at, requests.content';

/** The row of a request; PostgreSQL gives large integers as text. */
export interface RequestRow {
  readonly run: string;
  readonly id: string;
  readonly kind: string;
  readonly by: string;
  readonly at: string;
  readonly content: string;
}

/** The request of a row. */
export function toRequest({ run, id, kind, by, at, content }: RequestRow, name: string): PendingRequest {
  const data = tryParseJson(content);
  const request = typeof data === 'object' ? parseRequest({ ...data, id, kind, by, at: Number(at) }) : null;
  const message = `the row ${run}, ${id} of raymond.requests in ${name} is not a request that Raymond wrote`;
  return request ?? { kind: 'unreadable', id, message };
}

const FOREIGN_KEY_VIOLATION = '23503';

/** Creates the inbox of all runs of a database. It waits for a database that cannot be reached. */
export function createDatabaseInbox(database: Database): RunInbox {
  return {
    async put(run, request) {
      let attempts = 0;
      return database.retryUntilReachable(async () => {
        attempts += 1;
        if (await insertRequest(database, run, request)) return true;
        // The answer to an earlier attempt may have been lost.
        return attempts > 1 && (await isStored(database, run, request));
      });
    },
    find: (run, id) =>
      database.retryUntilReachable(async () => {
        const [row] = await database.query<RequestRow & { readonly outcome: string | null }>(
          `select ${REQUEST_COLUMNS}, outcome from raymond.requests where run = $1 and id = $2`,
          [run, id],
        );
        if (row === undefined) return null;
        const outcome = row.outcome === null ? null : parseOutcome(tryParseJson(row.outcome));
        return { request: toRequest(row, database.name), outcome };
      }),
    async withdraw(run, id) {
      const sql = 'delete from raymond.requests where run = $1 and id = $2 and outcome is null returning id';
      return (await database.retryUntilReachable(() => database.query(sql, [run, id]))).length > 0;
    },
  };
}

async function insertRequest(database: Database, run: string, request: InboxRequest): Promise<boolean> {
  const { id, kind, by, at } = request;
  try {
    const rows = await database.query(
      `insert into raymond.requests (run, id, kind, by, at, content) values ($1, $2, $3, $4, $5, $6)
       on conflict do nothing returning id`,
      [run, id, kind, by, at, formatContent(request)],
    );
    return rows.length > 0;
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    throw errorCodeOf(cause) === FOREIGN_KEY_VIOLATION ? noSuchRunError(run) : error;
  }
}

async function isStored(database: Database, run: string, request: InboxRequest): Promise<boolean> {
  const { id, kind, by, at } = request;
  const rows = await database.query(
    'select 1 from raymond.requests where (run, id, kind, by, at, content) = ($1, $2, $3, $4, $5, $6)',
    [run, id, kind, by, at, formatContent(request)],
  );
  return rows.length > 0;
}

/** Settles a request. */
export const settleRequest = (
  database: Pick<Database, 'query'>,
  run: string,
  id: string,
  outcome: RequestOutcome,
): Promise<unknown> =>
  database.query('update raymond.requests set outcome = $3 where run = $1 and id = $2 and outcome is null', [
    run,
    id,
    JSON.stringify(outcome),
  ]);

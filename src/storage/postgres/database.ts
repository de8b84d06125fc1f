import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Pool, PoolClient, QueryResultRow } from 'pg';
import { EXIT, errorCodeOf, errorMessageOf, RaymondError } from '../../errors.ts';
import { type Clock, createClock, monotonicMs } from '../../process/clock.ts';

/** Called with a sentence while a database is waited for, and with null once it is back. */
type OnWait = (message: string | null) => void;

/** How long a database is waited for; by default for as long as it takes. */
export interface RetryLimits {
  readonly atMostMs?: number;
  /** How often there may be no answer in time: what is too large for the way to the database never gets one. */
  readonly mostTimeouts?: number;
}

/** The patience with what a run can do without. */
export const BEST_EFFORT: RetryLimits = { mostTimeouts: 2 };

/** A database, through a pool of connections. */
export class Database {
  readonly address: string;
  /** Its name in messages. */
  readonly name: string;
  readonly pool: Pool;
  private readonly onWait: OnWait | undefined;
  private isClosed = false;
  private waiting = 0;
  private aheadMs = 0;
  /** The clock of the database: those of the machines may differ. */
  readonly clock: Clock = createClock(() => this.aheadMs);

  constructor(address: string, pool: Pool, onWait?: OnWait) {
    this.address = address;
    this.name = describeAddress(address);
    this.pool = pool;
    this.onWait = onWait;
  }

  /** Runs one statement. Its rows have the type that the statement gives them; they may have so many bytes, if they are large. */
  async query<Row extends QueryResultRow>(
    sql: string,
    values: readonly unknown[] = [],
    answerBytes = 0,
  ): Promise<readonly Row[]> {
    try {
      return (await this.pool.query<Row>(withTimeout(sql, values, answerBytes))).rows;
    } catch (error) {
      throw explainDatabaseError(this.address, error);
    }
  }

  /** Reads the bytes of a column of one row, however many they are; undefined if there is no such row. `from` is the statement from there on. */
  async queryBytes(column: string, from: string, values: readonly unknown[]): Promise<Buffer | null | undefined> {
    const [size] = await this.query<{ bytes: number | null }>(
      `select octet_length(${column}) as bytes ${from}`,
      values,
    );
    const sql = `select ${column} as content ${from}`;
    // They come as two digits each.
    const [row] = await this.query<{ content: Buffer | null }>(sql, values, 2 * (size?.bytes ?? 0));
    return row?.content;
  }

  /** Runs statements in one transaction: all of them count, or none. */
  async transaction<T>(body: (client: PoolClient) => Promise<T>): Promise<T> {
    let client: PoolClient | undefined;
    try {
      client = await this.pool.connect();
      await client.query('begin');
      const result = await body(client);
      await client.query('commit');
      client.release();
      return result;
    } catch (error) {
      // A connection in an unknown state is not used again.
      client?.release(true);
      throw explainDatabaseError(this.address, error);
    }
  }

  /** Does something again and again until the database can be reached, with this patience. Whatever it does must be harmless if it was done already. */
  async retryUntilReachable<T>(
    action: () => Promise<T>,
    { atMostMs = Number.POSITIVE_INFINITY, mostTimeouts = Number.POSITIVE_INFINITY }: RetryLimits = {},
  ): Promise<T> {
    let isWaiting = false;
    let timeouts = 0;
    const givesUpAt = monotonicMs() + atMostMs;
    try {
      for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
        try {
          return await action();
        } catch (cause) {
          const error = explainDatabaseError(this.address, cause);
          if (errorMessageOf(error).includes(READ_TIMEOUT)) timeouts += 1;
          const isEnough = timeouts >= mostTimeouts || monotonicMs() >= givesUpAt;
          if (this.isClosed || !isUnreachable(error) || isEnough) throw error;
          if (!isWaiting) this.recordWaiting(1, errorMessageOf(error));
          isWaiting = true;
          await delay(waitMs);
        }
      }
    } finally {
      if (isWaiting) this.recordWaiting(-1, null);
    }
  }

  /** Looks at the clock of the database; returns by how much it is ahead of that of this machine. */
  async readClock(): Promise<number> {
    const sentAt = Date.now();
    const [row] = await this.query<{ now: number }>(
      'select extract(epoch from clock_timestamp())::float * 1000 as now',
    );
    const aheadMs = (row?.now ?? sentAt) - (sentAt + Date.now()) / 2;
    // Smaller differences are those of the way there and back.
    if (Math.abs(aheadMs - this.aheadMs) > CLOCK_TOLERANCE_MS) this.aheadMs = Math.round(aheadMs);
    return this.aheadMs;
  }

  /** However many wait, the first says so, and the last that the database is back. */
  private recordWaiting(more: 1 | -1, message: string | null): void {
    const others = this.waiting;
    this.waiting += more;
    if (others === 0 || this.waiting === 0) this.onWait?.(message);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.pool.end().catch(() => {});
  }
}

const CLOCK_TOLERANCE_MS = 1_000;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;
const CONNECT_WITHIN_MS = 10_000;
const KEEP_ALIVE_AFTER_MS = 10_000;
const ANSWER_WITHIN_MS = 30_000;
const IDLE_IN_TRANSACTION_MS = 60_000;
/** The message of pg about a timeout. */
const READ_TIMEOUT = 'Query read timeout';
/** More than that takes its time, at this rate on a slow way. */
const LARGE_BYTES = 1 << 20;
const SLOW_BYTES_PER_MS = 64;

/** A statement that may take as long as its values and its answer need on a slow way. */
export function withTimeout(
  text: string,
  values: readonly unknown[],
  answerBytes = 0,
): { readonly text: string; readonly values: unknown[]; readonly query_timeout?: number } {
  const bytes = countBytes(values) + answerBytes;
  const statement = { text, values: [...values] };
  return bytes < LARGE_BYTES
    ? statement
    : { ...statement, query_timeout: ANSWER_WITHIN_MS + Math.round(bytes / SLOW_BYTES_PER_MS) };
}

function countBytes(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, each) => sum + countBytes(each), 0);
  return typeof value === 'string' || Buffer.isBuffer(value) ? value.length : 0;
}

/** Opens a database; nothing is sent to it yet. */
export async function openDatabase(address: string, connections = 4, onWait?: OnWait): Promise<Database> {
  checkAddress(address);
  const { Pool } = await loadPg();
  const pool = new Pool({
    connectionString: address,
    max: connections,
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    keepAlive: true,
    // Detects silent peers.
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    query_timeout: ANSWER_WITHIN_MS,
    // A client that hangs in a transaction must not keep its locks.
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    application_name: 'raymond',
  });
  // A connection that breaks while nobody uses it is replaced; who uses one gets the error.
  pool.on('error', () => {});
  // Nobody listens to one that is taken from the pool and asks nothing just now, say in a transaction.
  pool.on('connect', (client) => client.on('error', () => {}));
  return new Database(address, pool, onWait);
}

/** The error for a database that cannot be reached just now. */
class DatabaseUnreachable extends RaymondError {}

/** True if an error means that the database cannot be reached just now. */
const isUnreachable = (error: unknown): boolean => error instanceof DatabaseUnreachable;

const UNREACHABLE_CODES =
  /^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|EAI_AGAIN|ENOTFOUND|EADDRNOTAVAIL|08|57P0|53300|25P03|ERR_SOCKET)/;
/** It answers and cannot work: its disk or memory is full, or it is a copy that nobody may write to yet. */
const UNABLE_CODES = /^(53|58|25006)/;
const TLS = /SSL|TLS|CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/i;
/** The codes of PostgreSQL have a digit; those of the system, such as EPERM, have none. */
const SQLSTATE = /^(?=.*\d)[0-9A-Z]{5}$/;
const UNREACHABLE_WORDS =
  /Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered|the database system is (starting up|shutting down|not yet accepting connections|in recovery mode)|terminating connection|(Unable to connect to system database|Failed to initialize workflow executor).*(ECONN|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST|ENET)/;

/** True if a text of somebody else says that the database cannot be reached just now. */
export const soundsUnreachable = (text: string): boolean =>
  UNREACHABLE_WORDS.test(text) || /\b(ECONN\w+|EPIPE|ETIMEDOUT|EHOST\w+|ENET\w+|EAI_AGAIN)\b/.test(text);

const CHECK_TLS = 'Check sslmode and sslrootcert in its address; docs/fleet.md says more.';
const CHECK_ADDRESS = 'Check --database, RAYMOND_DATABASE or `database` in config.toml.';

/** Says in a sentence why a database does not do what it should; any other error is returned as it is. */
export function explainDatabaseError(address: string, error: unknown): unknown {
  if (error instanceof RaymondError) return error;
  const name = describeAddress(address);
  const code = errorCodeOf(error);
  const reason = errorMessageOf(error) || code;
  const explained = (message: string, hint: string): RaymondError =>
    new RaymondError(message, { exitCode: EXIT.usage, hint, cause: error });
  // Whatever keeps a socket from being connected, such as a missing file of a socket.
  const syscall = error instanceof Error && 'syscall' in error ? error.syscall : '';
  const isRefused = syscall === 'connect';
  if (isRefused || UNREACHABLE_CODES.test(code) || UNREACHABLE_WORDS.test(reason)) {
    const message = `The database ${name} cannot be reached (${code || (/\bE[A-Z_]{4,}\b/.exec(reason)?.[0] ?? reason)}).`;
    return new DatabaseUnreachable(message, { exitCode: EXIT.usage, hint: CHECK_ADDRESS, cause: error });
  }
  if (UNABLE_CODES.test(code)) {
    const message = `The database ${name} cannot work just now: ${reason}.`;
    return new DatabaseUnreachable(message, { exitCode: EXIT.usage, cause: error });
  }
  // The address may name files of certificates, and no others.
  const isCertificate = syscall === 'open' || syscall === 'read';
  if (isCertificate || TLS.test(code) || (!SQLSTATE.test(code) && TLS.test(reason)))
    return explained(`There is no safe connection to the database ${name}: ${reason}.`, CHECK_TLS);
  switch (code) {
    case '28P01':
    case '28000':
      return explained(`The database ${name} does not let us in: ${reason}.`, CHECK_ADDRESS);
    case '3D000':
      return explained(`There is no database ${name}.`, 'Create it (createdb), then `raymond database init`.');
    case '3F000':
    case '42P01':
      return explained(
        `The database ${name} has not been prepared for Raymond.`,
        '`raymond database init` does that, once.',
      );
    case '42501':
      return explained(
        `The user of the database ${name} may not do that: ${reason}.`,
        'docs/fleet.md lists the rights.',
      );
    default:
      return SQLSTATE.test(code)
        ? explained(`The database ${name} refuses: ${reason} (${code}).`, 'Nothing was changed. Its log may say more.')
        : error;
  }
}

/** Checks the address of a database. Its password must not get into any message, so none repeats it. */
function checkAddress(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : null;
  const isPostgres = url !== null && ['postgres:', 'postgresql:'].includes(url.protocol);
  if (isPostgres && url.pathname.length > 1 && canDecode(url) && hasPort(url)) return url;
  throw new RaymondError('The address of the database is not one of PostgreSQL.', {
    exitCode: EXIT.usage,
    hint: 'Write postgres://USER:PASSWORD@HOST:PORT/DATABASE, with every special character of the password as %XX.',
  });
}

/** The package pg waits without end for a port that there cannot be. */
function hasPort({ searchParams }: URL): boolean {
  const port = searchParams.get('port');
  return port === null || (/^\d{1,5}$/.test(port) && Number(port) <= 65_535);
}

/** Every part is decoded on the way to the database, which a `%` without two digits and a NUL character would break. */
function canDecode({ username, password, host, pathname, search }: URL): boolean {
  try {
    return ![username, password, host, pathname, search].some((part) => decodeURIComponent(part).includes('\0'));
  } catch {
    return false;
  }
}

/** A database as messages name it: without user and password. */
function describeAddress(address: string): string {
  const { host, pathname } = checkAddress(address);
  return `${host === '' ? 'localhost' : host}${decodeURIComponent(pathname)}`;
}

/** The version of DBOS that Raymond is written and tested for. */
const DBOS_VERSION = '5.3.0';

/** Loads the driver of PostgreSQL, which is installed only by those who use a database. */
export const loadPg = async (): Promise<typeof pg> =>
  (await import('pg').catch((cause) => Promise.reject(explainMissing('pg', cause)))).default;

/** Explains that a package is missing which only databases need; any other error stays as it is. */
export function explainMissing(name: string, cause: unknown): unknown {
  if (!errorCodeOf(cause).endsWith('MODULE_NOT_FOUND')) return cause;
  return new RaymondError(`Runs on a database need the package ${name}, which is not installed.`, {
    exitCode: EXIT.usage,
    hint: `Install it beside Raymond: npm install -g pg @dbos-inc/dbos-sdk@${DBOS_VERSION}`,
    cause,
  });
}

/*
 * The locks of the database that are not those of rows. Who needs several takes them in the order in which they stand here, and
 * before the row of a run: two who waited for each other would both fail.
 */

/** Held while the tables are made. */
export const INIT_LOCK = 7_296_154_011;

/** Held by one sweeper at a time. */
export const SWEEP_LOCK = 7_296_154_014;

/** Held while a worker is chosen, so that many choices at once are spread over the workers. */
export const PLACE_LOCK = 7_296_154_012;

/** Shared by those who add a run; held by who removes workflows that no run uses. */
export const WORKFLOWS_LOCK = 7_296_154_013;

/*
 * SQL about the heartbeats of nodes. A node that was silent for longer than `worker_deadline`, by the clock of the database, is gone.
 */

const DEADLINE = '(select worker_deadline from raymond.about)';

/** True if a node was heard of within a part of the deadline. If the database's clock was set back, a beat of the future says nothing. */
export const isNear = (part: number): string =>
  `heartbeat_at between now() - ${DEADLINE} / ${part} and now() + ${DEADLINE} / ${part}`;

/** True if a row of `nodes` is that of a live node; one that has ended keeps its row. */
export const IS_ALIVE = `(token <> '' and ${isNear(1)})`;

/** The names of all nodes that are not gone: a short absence, as between an end and the next start, does not count. */
export const NOT_GONE = `(select name from raymond.nodes where ${isNear(1)})`;

/** True if a row of `nodes` is that of a node that may judge others. */
export const IS_STEADY = `(${isNear(2)} and steady_since < now() - ${DEADLINE})`;

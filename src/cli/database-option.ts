import type { DatabaseRuns } from '../fleet/database-runs.ts';
import { loadConfig } from '../runtime/load-config.ts';
import type { RunLocation } from '../runtime/open-runs.ts';
import type { RunControl } from '../runtime/run-control.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { type FlagSpec, type ParsedOptions, usageError } from './command.ts';

/** The flags of commands that can work on the runs of a database. */
export const DATABASE_FLAGS: readonly FlagSpec[] = [
  [
    '--database <address>',
    'the runs of this PostgreSQL database (default: RAYMOND_DATABASE, else `database` of the config file)',
  ],
  ['--no-database', 'the runs in files here, although a database is set'],
];

/** The address of the database that a command works on; null for the files here. */
export function findDatabaseAddress(
  { database }: ParsedOptions,
  { cwd, env }: Pick<Terminal, 'cwd' | 'env'>,
  configured: string | null | undefined = loadConfig(cwd, env).view.database,
): string | null {
  if (database === false) return null;
  return (typeof database === 'string' ? database : undefined) ?? (env.RAYMOND_DATABASE || configured || null);
}

/** The address of the database, for commands that work on nothing else. */
export function requireDatabaseAddress(options: ParsedOptions, terminal: Terminal): string {
  const address = findDatabaseAddress(options, terminal);
  if (address === null)
    throw usageError('there is no database', 'Name one: --database postgres://USER:PASSWORD@HOST/DATABASE');
  return address;
}

/** How long a command that lets a run go on waits for a database that is being restarted, say. A wrong address must not keep it for ever. */
export const WAIT_AT_MOST_MS = 60_000;

/** What a command works on: the runs of a folder, or those of a database. */
export interface RunPlace {
  readonly location: RunLocation;
  readonly database: DatabaseRuns | null;
}

/** Opens the runs that a command works on, and closes them at its end. The code for databases is loaded only for them. */
export async function withRunPlace<T>(
  address: string | null,
  { cwd, err }: Terminal,
  action: (place: RunPlace) => Promise<T>,
  waitAtMostMs = 0,
): Promise<T> {
  if (address === null) return action({ location: cwd, database: null });
  const { openDatabaseRuns } = await import('../fleet/database-runs.ts');
  const database = await openDatabaseRuns(address, { warn: (sentence) => err(`${sentence}\n`), waitAtMostMs });
  try {
    return await action({ location: database.reader, database });
  } finally {
    await database.close();
  }
}

/** The runs of a database for programs that start commands of their own: those must find the same database. */
export function withDatabase(
  env: NodeJS.ProcessEnv,
  address: string | null,
  { database }: RunPlace,
): { readonly env: NodeJS.ProcessEnv; readonly database?: { readonly name: string; readonly control: RunControl } } {
  if (address === null || database === null) return { env };
  const { name, reader, stop, prunePlace } = database;
  return {
    env: { ...env, RAYMOND_DATABASE: address },
    database: { name, control: { location: reader, stop, prunePlace } },
  };
}

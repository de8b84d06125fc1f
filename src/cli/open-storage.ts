import { loadConfig } from '../app/config/load-config.ts';
import type { RunPlace } from '../app/launcher.ts';
import { openFiles } from '../app/open-files.ts';
import type { Terminal } from '../render/terminal/terminal.ts';
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

/** How long a command that lets a run continue waits for a database that is being restarted, say. A wrong address must not keep it forever. */
export const WAIT_AT_MOST_MS = 60_000;

/** The runs that a command works on. */
export interface OpenedStorage extends RunPlace {
  /** The environment for commands of Raymond that are to open the same storage. */
  readonly env: NodeJS.ProcessEnv;
  /** The storage and the launcher for the runs of a folder: the same ones if they have the runs of all folders. */
  readonly openFolder: (folder: string) => RunPlace;
  /** True if they have the runs of all folders. */
  readonly isForAllFolders: boolean;
}

/** Opens the runs that a command works on, and closes them at its end. The code for databases is loaded only for them. */
export async function withStorage<T>(
  address: string | null,
  { cwd, env, err }: Terminal,
  action: (opened: OpenedStorage) => Promise<T>,
  waitAtMostMs = 0,
): Promise<T> {
  if (address === null) {
    const openFolder = (folder: string): RunPlace => openFiles(folder, env);
    return action({ ...openFolder(cwd), env, openFolder, isForAllFolders: false });
  }
  const { openDatabaseStorage } = await import('../cluster/database-storage.ts');
  const place = await openDatabaseStorage(address, { warn: (sentence) => err(`${sentence}\n`), waitAtMostMs });
  try {
    return await action({
      ...place,
      env: { ...env, RAYMOND_DATABASE: address },
      openFolder: () => place,
      isForAllFolders: true,
    });
  } finally {
    await place.storage.close();
  }
}

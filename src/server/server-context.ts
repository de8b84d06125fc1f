import type { RunLocation } from '../runtime/open-runs.ts';
import type { JournalPages } from './journal-pages.ts';
import type { ProjectCatalog } from './project-catalog.ts';
import type { RunFeeds } from './run-feed.ts';

/** What the routes of a server work with. */
export interface ServerContext {
  readonly catalog: ProjectCatalog;
  readonly feeds: RunFeeds;
  readonly journals: JournalPages;
  readonly env: NodeJS.ProcessEnv;
  /** The command that starts Raymond, and its first arguments. */
  readonly command: readonly [string, ...string[]];
  readonly version: string;
  readonly now: () => number;
  /** The folder that the server was started in. */
  readonly cwd: string;
}

/** Where a command has to work to find the runs of a location. */
export const commandPlaceOf = (
  location: RunLocation,
  { cwd }: Pick<ServerContext, 'cwd'>,
): { readonly location: RunLocation; readonly cwd: string } => ({
  location,
  cwd: typeof location === 'string' ? location : cwd,
});

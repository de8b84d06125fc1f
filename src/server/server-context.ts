import type { JournalPages } from './journal-pages.ts';
import type { ProjectCatalog } from './project-catalog.ts';
import type { RunFeeds } from './run-feed.ts';

/** The dependencies of a server's routes. */
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

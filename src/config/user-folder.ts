import { isAbsolute, join } from 'node:path';

/**
 * The folder of the user's own settings: `$XDG_CONFIG_HOME/raymond`, else `~/.config/raymond`. Null if the environment
 * names no home. The environment is passed in, so that a test never reads the settings of who runs it.
 */
export const findUserConfigFolder = (env: NodeJS.ProcessEnv): string | null =>
  findUserFolder(env, env.XDG_CONFIG_HOME, ['.config']);

/** The folder of what Raymond keeps for a user outside of projects: `$XDG_STATE_HOME/raymond`, else `~/.local/state/raymond`. */
export const findUserStateFolder = (env: NodeJS.ProcessEnv): string | null =>
  findUserFolder(env, env.XDG_STATE_HOME, ['.local', 'state']);

function findUserFolder(
  env: NodeJS.ProcessEnv,
  named: string | undefined,
  belowHome: readonly string[],
): string | null {
  if (named !== undefined && isAbsolute(named)) return join(named, 'raymond');
  const home = env.HOME || env.USERPROFILE || '';
  return isAbsolute(home) ? join(home, ...belowHome, 'raymond') : null;
}

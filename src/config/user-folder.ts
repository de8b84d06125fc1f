import { isAbsolute, join } from 'node:path';

/**
 * The folder of the user's own settings: `$XDG_CONFIG_HOME/raymond`, else `~/.config/raymond`. Null if the environment
 * names no home. The environment is passed in, so that a test never reads the settings of who runs it.
 */
export function findUserConfigFolder(env: NodeJS.ProcessEnv): string | null {
  const { XDG_CONFIG_HOME: configHome = '' } = env;
  if (isAbsolute(configHome)) return join(configHome, 'raymond');
  const home = env.HOME || env.USERPROFILE || '';
  return isAbsolute(home) ? join(home, '.config', 'raymond') : null;
}

import module from 'node:module';
import { isAbsolute, join } from 'node:path';

/** Node.js from 22.1 on. */
type NodeWithCache = typeof module & { readonly enableCompileCache?: (folder: string) => unknown };

/**
 * Lets Node.js keep what it compiles, where it can: in a folder of the user, because whoever can write to the cache can
 * have anything done. `NODE_COMPILE_CACHE` names another one, `NODE_DISABLE_COMPILE_CACHE` keeps nothing.
 */
export function enableCompileCache({ XDG_CACHE_HOME, HOME, USERPROFILE }: NodeJS.ProcessEnv): void {
  const home = HOME || USERPROFILE || '';
  const caches = isAbsolute(XDG_CACHE_HOME ?? '') ? (XDG_CACHE_HOME ?? '') : join(home, '.cache');
  // A cache that cannot be written does no harm.
  if (isAbsolute(caches)) (module as NodeWithCache).enableCompileCache?.(join(caches, 'raymond'));
}

import { hostname, userInfo } from 'node:os';

/** The user of this process, for records: `anna@laptop`. */
export function describeAnswerer(env: NodeJS.ProcessEnv): string {
  return `${findUserName(env)}@${hostname()}`;
}

/** A container may run with a user that has no name. */
function findUserName(env: NodeJS.ProcessEnv): string {
  try {
    return userInfo().username;
  } catch {
    return env.USER ?? env.USERNAME ?? String(process.getuid?.() ?? 'unknown');
  }
}

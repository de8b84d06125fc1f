/**
 * A setting of git: a folder that looks like a bare repository counts only if it is named. Otherwise three text files make any folder a
 * repository, and git starts the programs that they name.
 */
export const EXPLICIT_BARE_REPOSITORIES = { 'safe.bareRepository': 'explicit' };

/** Adds settings of git to an environment, after those that it has. */
export function withGitSettings(
  env: Record<string, string>,
  settings: Readonly<Record<string, string>>,
): Record<string, string> {
  const count = Number(env.GIT_CONFIG_COUNT || 0);
  // Git itself refuses such an environment, and says why.
  if (!Number.isSafeInteger(count) || count < 0) return env;
  const added = Object.entries(settings).flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${count + at}`, key],
    [`GIT_CONFIG_VALUE_${count + at}`, value],
  ]);
  const total = String(count + Object.keys(settings).length);
  return { ...env, ...Object.fromEntries(added), GIT_CONFIG_COUNT: total };
}

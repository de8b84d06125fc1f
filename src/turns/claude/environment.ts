import { inheritEnvironment } from '../environment.ts';

/**
 * What Claude Code is told unless the user said otherwise: not to change under our hands, to print one result per
 * process, and to have on disk what it has said. How often it retries is left to it: it knows which failures pass and
 * how long the server asked it to wait, it keeps what it has done so far, and its retries show that it is alive.
 */
const CLAUDE_DEFAULTS = {
  DISABLE_AUTOUPDATER: '1',
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
  CLAUDE_CODE_DISABLE_CRON: '1',
  CLAUDE_CODE_EAGER_FLUSH: '1',
};

/** The environment of Claude Code, made from our own. */
export const claudeEnvironment = (env: Readonly<Record<string, string | undefined>>): Record<string, string> => ({
  ...CLAUDE_DEFAULTS,
  ...inheritEnvironment(env),
});

/** An environment to be handed on. */
export type Environment = Readonly<Record<string, string | undefined>>;

const CLAUDE_CODE_VARIABLES = ['CLAUDECODE', 'CLAUDE_CODE_ENTRYPOINT'];

/** The part of our environment that a turn, or git, inherits: all but our own variables and those of a Claude Code around us. */
export function inheritEnvironment(env: Environment): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !entry[0].startsWith('RAYMOND_') && !CLAUDE_CODE_VARIABLES.includes(entry[0]),
  );
  return Object.fromEntries(kept);
}

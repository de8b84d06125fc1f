import type { ScriptTurn } from '../core/due.ts';

/** An environment to be handed on. */
export type Environment = Readonly<Record<string, string | undefined>>;

const CLAUDE_CODE_VARIABLES = ['CLAUDECODE', 'CLAUDE_CODE_ENTRYPOINT'];

/** A payload over this size is handed over by its file only: an environment has its limits. */
const MAX_VARIABLE_BYTES = 100 * 1024;

/** What a turn inherits of our environment: all but our own words and those of a Claude Code around us. */
export function inheritEnvironment(env: Environment): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !entry[0].startsWith('RAYMOND_') && !CLAUDE_CODE_VARIABLES.includes(entry[0]),
  );
  return Object.fromEntries(kept);
}

/** The environment of a script: where it is, what was handed to it, and the attributes of its worker's fork. */
export function scriptEnvironment(
  env: Environment,
  turn: ScriptTurn,
  runId: string,
  resultFile: string,
): Record<string, string> {
  const { input } = turn;
  const fitsVariable = input !== null && Buffer.byteLength(input) <= MAX_VARIABLE_BYTES && !input.includes('\0');
  return {
    ...inheritEnvironment(env),
    ...turn.attributes,
    RAYMOND_WORKFLOW_ID: runId,
    RAYMOND_AGENT_ID: turn.agent,
    RAYMOND_STATE: turn.state,
    ...(input !== null && { RAYMOND_RESULT_FILE: resultFile }),
    ...(fitsVariable && { RAYMOND_RESULT: input, RAYMOND_INPUT: input }),
  };
}

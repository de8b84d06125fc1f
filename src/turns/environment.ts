import type { ScriptTurn } from '../core/turns/due.ts';
import { EXPLICIT_BARE_REPOSITORIES, withGitSettings } from '../git/git-settings.ts';
import { RUN_VARIABLES } from '../language/variable-names.ts';
import { type Environment, inheritEnvironment } from '../process/command.ts';
import type { TurnContext } from './turn-context.ts';

/** A longer payload is handed over in its file only: the size of an environment is limited. */
const MAX_VARIABLE_BYTES = 100 * 1024;

/** No failure needs more words. */
const MAX_ERROR_CHARS = 16 * 1024;

/** The environment of a script: its run, agent, state and folders, its input, and the variables of the run and of its worker's fork. */
export function scriptEnvironment(
  { environmentOf, runId, filesFolder }: Pick<TurnContext, 'environmentOf' | 'runId' | 'filesFolder'>,
  turn: ScriptTurn,
  files: { readonly result: string; readonly output: string },
): Record<string, string> {
  const { input, error, evaluates } = turn;
  return {
    ...inheritEnvironment(environmentOf(turn.state)),
    ...turn.attributes,
    [RUN_VARIABLES.workflow_id]: runId,
    [RUN_VARIABLES.agent_id]: turn.agent,
    [RUN_VARIABLES.state]: evaluates?.state ?? turn.state,
    RAYMOND_WORKFLOW_DIR: filesFolder(turn.state),
    RAYMOND_VISIT: String(turn.visit),
    ...(turn.taskFolder !== null && { [RUN_VARIABLES.task_folder]: turn.taskFolder }),
    ...(turn.runFolder !== null && { [RUN_VARIABLES.run_folder]: turn.runFolder }),
    ...(turn.variables.ask_id !== undefined && { [RUN_VARIABLES.ask_id]: turn.variables.ask_id }),
    ...(turn.results?.file != null && { [RUN_VARIABLES.results_file]: turn.results.file }),
    ...(input !== null && { RAYMOND_RESULT_FILE: files.result }),
    ...(input !== null && fitsVariable(input) && { [RUN_VARIABLES.result]: input, [RUN_VARIABLES.input]: input }),
    ...(evaluates !== null && { RAYMOND_OUTPUT_FILE: files.output }),
    ...(evaluates !== null && fitsVariable(evaluates.text) && { RAYMOND_OUTPUT: evaluates.text }),
    ...(evaluates !== null && fitsVariable(evaluates.transition) && { RAYMOND_TRANSITION: evaluates.transition }),
    ...(error !== null && { [RUN_VARIABLES.error]: error.replaceAll('\0', '').slice(0, MAX_ERROR_CHARS) }),
  };
}

const fitsVariable = (text: string): boolean => Buffer.byteLength(text) <= MAX_VARIABLE_BYTES && !text.includes('\0');

/**
 * Settings of Claude Code unless the user chose others: no update during a run, one result per process, and everything
 * it says on disk at once. How often it retries is left to it: it knows which failures pass and how long the server
 * asked it to wait, it keeps what it has done so far, and its retries show that it is alive.
 */
const CLAUDE_DEFAULTS = {
  DISABLE_AUTOUPDATER: '1',
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
  CLAUDE_CODE_DISABLE_CRON: '1',
  CLAUDE_CODE_EAGER_FLUSH: '1',
};

/** True if Claude Code runs with our settings, so that it says nothing by itself between two prompts. */
export const hasClaudeDefaults = (env: Environment): boolean =>
  Object.entries(CLAUDE_DEFAULTS).every(([name, value]) => env[name] === value);

/** The environment of Claude Code, made from our own. It runs git by itself in the folder that it works in. */
export const claudeEnvironment = (env: Environment): Record<string, string> =>
  withGitSettings({ ...CLAUDE_DEFAULTS, ...inheritEnvironment(env) }, EXPLICIT_BARE_REPOSITORIES);

import type { Agent } from './agent.ts';
import { formatJoinResults, resultsOf } from './join-results.ts';
import { workflowNameOf } from './named-workflows.ts';
import type { Run } from './run.ts';
import type { Platform } from './state-names.ts';
import { workFoldersOf } from './work-folders.ts';

/** The run's own variables: their names in prompts, and in the environment of scripts. */
export const RUN_VARIABLES = {
  result: 'RAYMOND_RESULT',
  workflow_id: 'RAYMOND_WORKFLOW_ID',
  agent_id: 'RAYMOND_AGENT_ID',
  state: 'RAYMOND_STATE',
  task_folder: 'RAYMOND_TASK_FOLDER',
  run_folder: 'RAYMOND_RUN_FOLDER',
  ask_id: 'RAYMOND_ASK_ID',
  // A script reads the results of a join from their file.
  results: 'RAYMOND_RESULTS_FILE',
  results_file: 'RAYMOND_RESULTS_FILE',
  input: 'RAYMOND_INPUT',
  error: 'RAYMOND_ERROR',
} as const;

/** The names that a variable may not have. `input` is an attribute of the language, and `error` set only where a guard led. */
const RESERVED_NAMES = Object.keys(RUN_VARIABLES).filter((name) => name !== 'input' && name !== 'error');

const FORBIDDEN_NAMES = /^(PATH|HOME|IFS|ENV|BASH_ENV|NODE_OPTIONS|(LD|DYLD|RAYMOND)_.*)$/s;

/** Explains why a variable, which scripts get in their environment, may not have this name; undefined if it may. */
export function variableNameProblem(name: string, platform: Platform): string | undefined {
  if (name.includes('\0')) return `${JSON.stringify(name)} cannot be a variable: it contains a NUL character`;
  if (RESERVED_NAMES.includes(name))
    return `\`${name}\` cannot be a variable: {{${name}}} has a meaning of its own; use another name`;
  const comparedName = platform === 'windows' ? name.toUpperCase() : name;
  if (!FORBIDDEN_NAMES.test(comparedName) && name !== '__proto__') return undefined;
  return `\`${name}\` cannot be a variable: scripts would take it for something else; use another name`;
}

/** The variables that all agents have that are in the same workflow as this one. */
export function runVariables({ options, workflows }: Run, { state }: Agent): Readonly<Record<string, string>> {
  const name = workflowNameOf(state);
  const called = name !== null && Object.hasOwn(workflows, name) ? workflows[name] : undefined;
  return called === undefined ? options.variables : { ...options.variables, ...called.variables };
}

/** The variables for `{{…}}` in an agent's prompt. The run's own variables win over those of the user. */
export function promptVariables(run: Run, agent: Agent): Readonly<Record<string, string>> {
  const { taskFolder, runFolder } = workFoldersOf(run, agent);
  const results = resultsOf(run, agent);
  const own: { readonly [Name in keyof typeof RUN_VARIABLES]?: string } = {
    workflow_id: run.id,
    agent_id: agent.id,
    state: agent.state,
    ...(taskFolder !== null && { task_folder: taskFolder }),
    ...(runFolder !== null && { run_folder: runFolder }),
    ...(agent.askId !== null && { ask_id: agent.askId }),
    ...(results !== null && { results: formatJoinResults(results) }),
    ...(results !== null && results.file !== null && { results_file: results.file }),
    ...(agent.input !== null && { result: agent.input, input: agent.input }),
    ...(agent.error !== null && { error: agent.error }),
  };
  const { evaluation } = agent;
  const evaluated = evaluation === null ? {} : { output: evaluation.text, transition: evaluation.transition };
  return { ...runVariables(run, agent), ...agent.variables, ...own, ...evaluated };
}

/**
 * The names that a variable may have as a JSON Schema, for editors. It says the same as `variableNameProblem` on Unix,
 * which a test checks.
 */
export const VARIABLE_NAME_SCHEMA = {
  not: {
    anyOf: [
      { enum: [...RESERVED_NAMES, '__proto__'] },
      { pattern: '^(PATH|HOME|IFS|ENV|BASH_ENV|NODE_OPTIONS)$|^(LD|DYLD|RAYMOND)_|\\u0000' },
    ],
  },
} as const;

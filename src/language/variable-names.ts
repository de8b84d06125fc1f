import type { Platform } from './state-names.ts';

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

import type { Agent } from './agent.ts';
import type { Run } from './run.ts';
import type { Platform } from './state-names.ts';

/** The run's own variables, besides `input`, which is an attribute of the language. */
const RUN_VARIABLES = ['result', 'workflow_id', 'agent_id', 'state'];

const FORBIDDEN_NAMES = /^(PATH|HOME|IFS|ENV|BASH_ENV|NODE_OPTIONS|(LD|DYLD|RAYMOND)_.*)$/s;

/** Explains why a variable, which scripts get in their environment, may not have this name; undefined if it may. */
export function variableNameProblem(name: string, platform: Platform): string | undefined {
  if (name.includes('\0')) return `${JSON.stringify(name)} cannot be a variable: it contains a NUL character`;
  if (RUN_VARIABLES.includes(name))
    return `\`${name}\` cannot be a variable: {{${name}}} has a meaning of its own; use another name`;
  const comparedName = platform === 'windows' ? name.toUpperCase() : name;
  if (!FORBIDDEN_NAMES.test(comparedName) && name !== '__proto__') return undefined;
  return `\`${name}\` cannot be a variable: scripts would take it for something else; use another name`;
}

/** The variables for `{{…}}` in an agent's prompt. The run's own variables win over those of the user. */
export function promptVariables(run: Run, agent: Agent): Readonly<Record<string, string>> {
  return {
    ...run.options.variables,
    ...agent.variables,
    workflow_id: run.id,
    agent_id: agent.id,
    state: agent.state,
    ...(agent.input !== null && { result: agent.input, input: agent.input }),
  };
}

/**
 * The names that a variable may have as a JSON Schema, for editors. It says the same as `variableNameProblem` on Unix,
 * which a test checks.
 */
export const VARIABLE_NAME_SCHEMA = {
  not: {
    anyOf: [
      { enum: ['result', 'workflow_id', 'agent_id', 'state', '__proto__'] },
      { pattern: '^(PATH|HOME|IFS|ENV|BASH_ENV|NODE_OPTIONS)$|^(LD|DYLD|RAYMOND)_|\\u0000' },
    ],
  },
} as const;

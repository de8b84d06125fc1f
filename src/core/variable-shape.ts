/**
 * The names that a variable may have, in the words of JSON Schema, for the schemas that editors read. The rule itself is
 * `variableProblem`, as it is on Unix; a test holds the two equal.
 */
export const VARIABLE_NAME_SCHEMA = {
  not: {
    anyOf: [
      { enum: ['result', 'workflow_id', 'agent_id', 'state', '__proto__'] },
      { pattern: '^(PATH|HOME|IFS|ENV|BASH_ENV|NODE_OPTIONS)$|^(LD|DYLD|RAYMOND)_|\\u0000' },
    ],
  },
} as const;

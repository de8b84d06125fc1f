/** What the help begins with. */
export const INTRODUCTION = `Raymond runs Claude Code through workflows made of markdown prompts and shell scripts.

RUN is the id of a run, the beginning of it, or "last". Options that are always the same belong in .raymond/config.toml:
raymond --init-config writes one with all of them explained.`;

/** What it ends with. */
export const EXIT_CODES = `
\`raymond COMMAND --help\` lists the options of a command; those of \`run\` go with \`raymond WORKFLOW\` too.

Examples:
  raymond demo                              see it work: no account, no cost
  raymond init first && raymond first       write a first workflow and run it
  raymond workflows/coding --budget 5
  raymond resume last

Exit codes:
  0  every agent ended with a result      64  wrong usage
  1  at least one agent failed            65  the workflow is invalid
  2  waiting for a person                 70  a mistake in Raymond itself
  3  paused; resume goes on              130  interrupted
  4  budget or iteration limit reached
`;

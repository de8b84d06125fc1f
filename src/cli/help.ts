/** What `raymond --help` says. */
export const HELP = `Raymond runs Claude Code through workflows made of markdown prompts and shell scripts.

Usage:
  raymond WORKFLOW [options]      run a workflow: a state file, a folder or a zip
  raymond resume RUN [options]    go on with a run; RUN is its id, the beginning of it, or "last"

Options:
  --input TEXT            the value of {{result}} in the first state
  --var NAME=VALUE        a variable for every prompt and script; may be repeated
  --budget USD            stop when so much is spent (default 10, 0 for no limit)
  --max-iterations N      stop after so many executions of states (0 for no limit)
  --model NAME            the model where neither tag nor state asks for one
  --effort LEVEL          likewise the effort
  --timeout SECONDS       end a turn that is silent for so long (Claude turns: 900, scripts: never; 0 for never)
  --parallel N            Claude turns at once (default 8, 0 for no limit)
  --retries N             how often a turn is tried again that failed for passing reasons (default 3)
  --permission-mode MODE  what Claude Code may do without asking (default acceptEdits)
  --dangerously-skip-permissions
                          let Claude Code do anything without asking
  --no-wait               pause at a usage limit instead of sleeping until it is over
  --no-debug              do not keep the files of finished turns
  --claude PATH           the claude to use (default: the one on the PATH)
  --run-id ID             the name of the run
  --retry                 with resume: take up failed agents and interrupted scripts again
  --take-over             with resume: take the run from an owner on another machine
  --json                  print one document about the whole run at the end
  --events                print every event as a line of JSON
  --quiet                 print no progress
  -h, --help              show this help
  -V, --version           show the version

Options that are always the same belong in .raymond/config.toml, under [raymond]: budget, max_iterations, model, effort,
timeout, parallel, reminders, retries, wait, reset_stack, permission_mode, dangerously_skip_permissions, debug, claude;
variables under [vars]. What is given on the command line goes before.

Examples:
  raymond workflows/coding --budget 5
  raymond workflows/coding/PLAN.md --input "Add a login page"
  raymond resume last --budget 20

Exit codes:
  0 every agent ended with a result     4 budget or iteration limit reached
  1 at least one agent failed           64 wrong usage
  2 waiting for a person                65 the workflow is invalid
  3 paused; resume goes on              130 interrupted
`;

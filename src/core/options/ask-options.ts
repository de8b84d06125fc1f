import { ASK_MODES, type AskMode } from '../../language/ask.ts';
import { OPTIONAL_TEXT, type OptionRow, optionalChoice } from './option-types.ts';

/** The option that says what a run does at a question. */
export const ON_ASK_OPTION: OptionRow<AskMode | null> = {
  key: 'on_ask',
  type: optionalChoice(...ASK_MODES),
  default: null,
  whenOmitted: 'wait in a terminal, else exit',
  example: 'exit',
  argument: '<mode>',
  scenario: 'authored',
  help: 'at a question: wait for its answer, exit with code 2 once nothing else can be done, or fail',
};

/** The option that names a command to be run when a person should know something. */
export const NOTIFY_OPTION: OptionRow<string | null> = {
  key: 'notify',
  type: OPTIONAL_TEXT,
  default: null,
  whenOmitted: 'none',
  example: 'jq -r .message | wall',
  argument: '<command>',
  trust: { effect: 'runs this command', isNeededFor: (command) => command !== null },
  help: 'run this command at a question, a pause, a failure, a limit and the end, with the facts as JSON on stdin',
};

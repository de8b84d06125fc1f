import { ASK_MODES, type AskMode } from './ask.ts';
import { type OptionRow, optionalChoice } from './option-types.ts';

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

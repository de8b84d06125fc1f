import { EXIT } from '../errors.ts';
import type { CommandSpec, ExitCodeMeaning } from './command.ts';
import type { HelpLayout, HelpRow } from './help-layout.ts';

/** What the help begins with. */
export const INTRODUCTION = `Raymond runs Claude Code through workflows made of markdown prompts and shell scripts.

RUN is the id of a run, the beginning of it, or "last". Options that are always the same belong in .raymond/config.toml: raymond --init-config writes one with all of them explained.`;

/** How a run can end. */
export const RUN_EXITS: readonly ExitCodeMeaning[] = [
  [EXIT.completed, 'every agent ended with a result'],
  [EXIT.failed, 'at least one agent failed'],
  [EXIT.waiting, 'waiting for a person'],
  [EXIT.paused, 'paused; resume goes on'],
  [EXIT.limit, 'budget or iteration limit reached'],
  [EXIT.usage, 'wrong usage'],
  [EXIT.invalid, 'the workflow is invalid'],
  [EXIT.bug, 'a mistake in Raymond itself'],
  [EXIT.interrupted, 'interrupted'],
];

const EXAMPLES: readonly HelpRow[] = [
  ['raymond demo', 'see it work: no account, no cost'],
  ['raymond init first && raymond first', 'write a first workflow and run it'],
  ['raymond workflows/coding --budget 5', ''],
  ['raymond resume last', ''],
];

/** What the help of the whole program ends with. */
export const renderHelpFooter = (layout: HelpLayout): string =>
  [
    layout.paragraph(COMMAND_HELP_HINT),
    layout.section('Examples:', EXAMPLES),
    layout.section('Exit codes of a run (other commands list their own):', RUN_EXITS.map(createExitCodeRow)),
  ].join('\n');

const COMMAND_HELP_HINT =
  '`raymond COMMAND --help` lists the options of a command; those of `run` go with `raymond WORKFLOW` too.';

/** What the help of a command ends with. */
export function renderCommandHelpFooter({ examples, exits = [] }: CommandSpec, layout: HelpLayout): string {
  const lines = examples.map((line): HelpRow => [line, '']);
  return [
    layout.section('Examples:', lines),
    ...(exits.length === 0 ? [] : [layout.section('Exit codes:', exits.map(createExitCodeRow))]),
  ].join('\n');
}

const createExitCodeRow = ([code, meaning]: ExitCodeMeaning): HelpRow => [String(code).padStart(3), meaning];

import { type Command, Help } from 'commander';
import { EXIT } from '../errors.ts';
import type { CommandSpec, ExitCodeMeaning } from './command.ts';

/** The beginning of the help. */
export const INTRODUCTION = `Raymond runs Claude Code through workflows made of markdown prompts and shell scripts.

RUN is the id of a run, its beginning, or "last". Put options that you always use into .raymond/config.toml, or for all projects into ~/.config/raymond/config.toml; raymond --init-config writes one that explains all of them.`;

/** The exit codes of commands that run a workflow. */
export const RUN_EXITS: readonly ExitCodeMeaning[] = [
  [EXIT.completed, 'every agent ended with a result, or a join took note of its failure'],
  [EXIT.failed, 'at least one agent failed'],
  [EXIT.waiting, 'waiting for the answer of a person: `raymond asks` shows the question'],
  [EXIT.paused, 'paused; `raymond resume` continues it'],
  [EXIT.limit, 'budget or iteration limit reached'],
  [EXIT.usage, 'wrong usage'],
  [EXIT.invalid, 'the workflow is invalid'],
  [EXIT.bug, 'a bug in Raymond'],
  [EXIT.interrupted, 'interrupted'],
];

const EXAMPLES: readonly HelpRow[] = [
  ['raymond demo', 'see it work: no account, no cost'],
  ['raymond init first && raymond first --budget 1', 'write a first workflow and run it for at most $1'],
  ['raymond workflows/coding --budget 5', ''],
  ['raymond resume last', ''],
];

/** Renders the end of the program's help. */
export const renderHelpFooter = (layout: HelpLayout): string =>
  [
    layout.paragraph(COMMAND_HELP_HINT),
    layout.section('Examples:', EXAMPLES),
    layout.section('Exit codes of a run (other commands list their own):', RUN_EXITS.map(createExitCodeRow)),
  ].join('\n');

const COMMAND_HELP_HINT =
  '`raymond COMMAND --help` lists the options of a command. `raymond WORKFLOW` takes those of `run`.';

/** Renders the end of a command's help. */
export function renderCommandHelpFooter({ examples, exits = [] }: CommandSpec, layout: HelpLayout): string {
  return [
    layout.section(
      'Examples:',
      examples.map((line): HelpRow => [line, '']),
    ),
    ...(exits.length === 0 ? [] : [layout.section('Exit codes:', exits.map(createExitCodeRow))]),
  ].join('\n');
}

const createExitCodeRow = ([code, meaning]: ExitCodeMeaning): HelpRow => [String(code).padStart(3), meaning];

/** A term and its help. */
export type HelpRow = readonly [term: string, help: string];

/** Lays out help for a terminal: the help of a term stands beside it, or below it if the terminal is narrow. */
export class HelpLayout extends Help {
  override minWidthToWrap = 20;

  constructor(columns: number) {
    super();
    this.helpWidth = columns;
  }

  /** All commands have options: the usage says so once. */
  override subcommandTerm(command: Command): string {
    return super.subcommandTerm(command).replace(' [options]', '');
  }

  override formatItem(term: string, width: number, help: string, helper: Help): string {
    const columns = this.helpWidth ?? 80;
    if (help === '' || columns - width - 4 >= MIN_HELP_COLUMNS) {
      return super.formatItem(term, width, help, helper);
    }
    return `  ${term}\n${this.boxWrap(help, columns - HELP_INDENT.length).replace(/^/gm, HELP_INDENT)}`;
  }

  /** Renders a paragraph, with an empty line before it. */
  paragraph(text: string): string {
    return `\n${this.boxWrap(text, this.helpWidth ?? 80)}`;
  }

  /** Renders rows under a heading. */
  section(heading: string, rows: readonly HelpRow[]): string {
    const width = Math.max(...rows.map(([term]) => term.length));
    const items = rows.map(([term, help]) => this.formatItem(term, width, help, this));
    return [this.paragraph(heading), ...items].join('\n');
  }
}

const MIN_HELP_COLUMNS = 30;
const HELP_INDENT = ' '.repeat(6);

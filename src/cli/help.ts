import { Help } from 'commander';
import { EXIT } from '../errors.ts';
import type { CommandSpec, ExitCodeMeaning } from './command.ts';

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

/** A word and what it is for. */
export type HelpRow = readonly [word: string, purpose: string];

/** Lays help out for a terminal: what a word is for stands beside it, or below it where there is little room. */
export class HelpLayout extends Help {
  override minWidthToWrap = 20;

  constructor(columns: number) {
    super();
    this.helpWidth = columns;
  }

  override formatItem(term: string, width: number, purpose: string, helper: Help): string {
    const columns = this.helpWidth ?? 80;
    if (purpose === '' || columns - width - 4 >= MIN_PURPOSE_COLUMNS) {
      return super.formatItem(term, width, purpose, helper);
    }
    return `  ${term}\n${this.boxWrap(purpose, columns - PURPOSE_INDENT.length).replace(/^/gm, PURPOSE_INDENT)}`;
  }

  /** A part of the help that stands by itself. */
  paragraph(text: string): string {
    return `\n${this.boxWrap(text, this.helpWidth ?? 80)}`;
  }

  /** One that has a heading. */
  section(heading: string, rows: readonly HelpRow[]): string {
    const width = Math.max(...rows.map(([term]) => term.length));
    const items = rows.map(([term, purpose]) => this.formatItem(term, width, purpose, this));
    return [this.paragraph(heading), ...items].join('\n');
  }
}

const MIN_PURPOSE_COLUMNS = 30;
const PURPOSE_INDENT = ' '.repeat(6);

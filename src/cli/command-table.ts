import { flagOf, OPTION_TABLE, OPTIONS, type Option } from '../core/options.ts';
import { EXIT } from '../errors.ts';
import type { CommandSpec, FlagSpec } from './command.ts';
import { RUN_EXITS } from './help.ts';

const OUTPUT_FLAGS: readonly FlagSpec[] = [
  ['--json', 'print one document about the whole run at the end, instead of the results'],
  ['--events', 'print every event as a line of JSON, instead of the results'],
  ['--quiet', 'print no progress'],
  ['--verbose', 'also print what agents say and which tools they use'],
  ['--log-file <file>', 'also append every event to this file, as lines of JSON'],
];

/** The flags of an option of a run: none, one, or one for each value of a switch. */
function flagsOf(option: Omit<Option, 'name'>): readonly FlagSpec[] {
  const { type, argument, help, negation, default: usual } = option;
  if (argument === undefined) return [];
  const flag = flagOf(option);
  if (type.kind !== 'boolean') {
    const repeatable = type.kind === 'variables' ? 'repeatable' : undefined;
    return [[`${flag} ${argument}`, `${help}${describeDefault(option)}`, repeatable]];
  }
  const positive: FlagSpec = [flag, usual === true ? `${help} (default)` : help];
  return negation === undefined ? [positive] : [positive, [flag.replace('--', '--no-'), negation]];
}

function describeDefault({ type, default: usual, whenOmitted }: Omit<Option, 'name'>): string {
  if (whenOmitted !== undefined) return ` (default: ${whenOmitted})`;
  const written = type.format(usual);
  return written === null ? '' : ` (default ${written})`;
}

const RUN_OPTION_FLAGS: readonly FlagSpec[] = OPTIONS.flatMap(flagsOf);

const RUN_FLAGS: readonly FlagSpec[] = [
  ['--input <text>', 'the value of {{result}} in the first state'],
  ['--dir <folder>', 'the folder that the agents work in (default: this one)'],
  ['--name <text>', 'what the run is called in lists (default: the name of the workflow)'],
  ['--run-id <id>', 'the id of the run (default: made of its name and the time)'],
  ...RUN_OPTION_FLAGS,
  ...OUTPUT_FLAGS,
  ['--resume <run>', 'the same as `raymond resume RUN`'],
  ['--init-config', 'write .raymond/config.toml with every option explained, and do nothing else'],
];

const RETRY_FLAG: FlagSpec = ['--retry', 'take up failed agents and interrupted scripts again'];
const TAKE_OVER_FLAG: FlagSpec = ['--take-over', 'take the run from an owner on another machine'];
const JSON_FLAG: FlagSpec = ['--json', 'print it as JSON'];

/** Every command, in the order of the help. */
export const COMMAND_TABLE: readonly CommandSpec[] = [
  {
    name: 'run',
    aliases: ['start'],
    args: '[WORKFLOW]',
    summary: 'run a workflow: a state file, a folder or a zip; `raymond WORKFLOW` does the same',
    flags: [...RUN_FLAGS, RETRY_FLAG, TAKE_OVER_FLAG],
    examples: ['raymond workflows/coding --budget 5', 'raymond workflows/coding/PLAN.md --input "Add a login page"'],
    exits: RUN_EXITS,
    load: async () => (await import('./commands/run.ts')).handleRun,
  },
  {
    name: 'resume',
    args: '[RUN]',
    summary: 'go on with a run that was paused, stopped, interrupted or killed',
    flags: [RETRY_FLAG, TAKE_OVER_FLAG, ...RUN_OPTION_FLAGS, ...OUTPUT_FLAGS],
    examples: ['raymond resume last', 'raymond resume last --budget 20', 'raymond resume coding-2026 --retry'],
    exits: RUN_EXITS,
    load: async () => (await import('./commands/resume.ts')).handleResume,
  },
  {
    name: 'list',
    aliases: ['ls'],
    summary: 'show every run, the unfinished first',
    flags: [JSON_FLAG],
    examples: ['raymond list'],
    load: async () => (await import('./commands/list.ts')).handleList,
  },
  {
    name: 'status',
    args: '[RUN]',
    summary: 'show where a run stands: its agents, what it waits for, and how to go on',
    flags: [JSON_FLAG],
    examples: ['raymond status last'],
    load: async () => (await import('./commands/status.ts')).handleStatus,
  },
  {
    name: 'logs',
    args: '[RUN]',
    summary: 'tell the story of a run: prompts, what Claude said and did, scripts, transitions',
    flags: [
      ['--agent <id>', 'only this agent'],
      ['--follow', 'go on telling while the run goes on'],
      ['--raw', 'print the lines of the turns as they were recorded'],
    ],
    examples: ['raymond logs last', 'raymond logs last --agent main_worker1 --follow'],
    load: async () => (await import('./commands/logs.ts')).handleLogs,
  },
  {
    name: 'stop',
    args: '[RUN]',
    summary: 'stop a run that lives in another process: its turns come to their end',
    flags: [['--now', 'end the turns too']],
    examples: ['raymond stop last', 'raymond stop last --now'],
    load: async () => (await import('./commands/stop.ts')).handleStop,
  },
  {
    name: 'recover',
    summary: 'show the runs whose process is gone',
    flags: [['--resume', 'go on with all of them, one after the other'], JSON_FLAG],
    examples: ['raymond recover', 'raymond recover --resume'],
    exits: RUN_EXITS,
    load: async () => (await import('./commands/recover.ts')).handleRecover,
  },
  {
    name: 'doctor',
    summary: 'check that everything is there that a run needs, and say what to do where it is not',
    flags: [
      ['--ask', 'send Claude one short prompt, for less than a cent, to see that it answers'],
      ...flagsOf(OPTION_TABLE.claude),
      JSON_FLAG,
    ],
    examples: ['raymond doctor', 'raymond doctor --ask'],
    exits: [
      [EXIT.completed, 'ready to run'],
      [EXIT.usage, 'something keeps runs from working'],
    ],
    load: async () => (await import('./commands/doctor.ts')).handleDoctor,
  },
  {
    name: 'init',
    args: '[DIR]',
    summary: 'write a first workflow, with comments, canned answers and a test',
    flags: [
      ['--schemas', 'write only the schemas for your editor, over those that are there (default: into this folder)'],
    ],
    examples: ['raymond init workflows/first', 'raymond init workflows/coding --schemas'],
    load: async () => (await import('./commands/init.ts')).handleInit,
  },
  {
    name: 'config',
    summary: 'show which options are in force here and where each of them comes from',
    flags: [JSON_FLAG],
    examples: ['raymond config'],
    load: async () => (await import('./commands/config.ts')).handleConfig,
  },
  {
    name: 'lint',
    args: '[PATH...]',
    summary:
      'look for mistakes in workflows before they cost money: folders, zips or state files, by default this folder',
    flags: [
      JSON_FLAG,
      ['--format <format>', 'text, or github for annotations in GitHub Actions (default text)'],
      ['--level <level>', 'show only what is as bad as this: error, warning or info (default info)'],
      ['--max-warnings <n>', 'fail if there are more warnings than this; 0 allows none (default: any number)'],
      ['--explain <rule>', 'explain a rule with an example, and do nothing else'],
      ['--platform <platform>', 'the machine that they are for: unix or windows (default: this one)'],
      ['--var <name=value>', 'a variable that their runs will have; may be repeated', 'repeatable'],
    ],
    examples: [
      'raymond lint workflows/coding',
      'raymond lint workflows/* --format github --max-warnings 0',
      'raymond lint --explain silent-path',
    ],
    exits: [
      [EXIT.completed, 'no errors, and no more warnings than are allowed'],
      [EXIT.failed, 'no errors, but more warnings than --max-warnings'],
      [EXIT.usage, 'wrong usage, such as a path that leads nowhere'],
      [EXIT.invalid, 'there are errors'],
    ],
    load: async () => (await import('./commands/lint.ts')).handleLint,
  },
  {
    name: 'graph',
    args: '[WORKFLOW]',
    summary:
      'draw a workflow, by default that of this folder, or a run over its workflow: as Mermaid, SVG or a page for the browser',
    flags: [
      ['--format <format>', 'mermaid, svg or html (default: as the file ends, else mermaid)'],
      ['--output <file>', 'write it there instead of to stdout'],
      ['--run <run>', 'draw this run, also where a file is called like it'],
      ['--platform <platform>', 'the machine that it is for: unix or windows (default: this one)'],
    ],
    examples: ['raymond graph workflows/coding', 'raymond graph last --output run.html'],
    exits: [
      [EXIT.completed, 'it is drawn, whatever lint says about it'],
      [EXIT.usage, 'wrong usage, such as a workflow or a run that is not there'],
      [EXIT.invalid, 'the workflow or the record of the run cannot be read'],
    ],
    load: async () => (await import('./commands/graph.ts')).handleGraph,
  },
  {
    name: 'test',
    args: '[PATH...]',
    summary:
      'play the scenarios of workflows, by default those in this folder, without Claude Code, and say what does not come as expected',
    flags: [
      ['--filter <text>', 'only the scenario of this name, or those whose name or file contains it'],
      ['--coverage', 'also show which states, transitions and policy entries they took'],
      ['--min-coverage <percent>', 'fail if they took less'],
      ['--graph <file>', 'draw what they took over the workflow: .html, .svg, .mmd or .md'],
      ['--keep', 'keep the folders they were played in, and show where they are'],
      ['--timeout <seconds>', 'end a scenario that takes longer (default 60, 0 for never)'],
      JSON_FLAG,
      ['--record <run>', 'make a scenario of this run instead'],
      ['--output <file>', 'with --record: write it there, or to stdout for - (default: beside the workflow)'],
      ['--real-scripts', 'run scripts that have answers, too; with --record: leave them out of the recording'],
    ],
    examples: [
      'raymond test workflows/coding',
      'raymond test --coverage --min-coverage 90',
      'raymond test --record last',
    ],
    exits: [
      [EXIT.completed, 'all went as expected'],
      [EXIT.failed, 'something did not, or less is covered than --min-coverage'],
      [EXIT.usage, 'wrong usage, or there are no scenarios'],
      [EXIT.invalid, 'a scenario file or its workflow cannot be used'],
      [EXIT.interrupted, 'interrupted'],
    ],
    load: async () => (await import('./commands/test.ts')).handleTest,
  },
  {
    name: 'demo',
    args: '[DIR]',
    summary: 'run an example with canned answers: no account, no cost, less than a minute',
    flags: [['--fast', 'do not take the time that Claude Code would']],
    examples: ['raymond demo', 'raymond demo /tmp/demo --fast'],
    exits: RUN_EXITS,
    load: async () => (await import('./commands/demo.ts')).handleDemo,
  },
];

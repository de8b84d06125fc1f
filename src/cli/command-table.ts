import { flagOf, OPTION_TABLE, OPTIONS, type Option } from '../core/options.ts';
import { EXIT } from '../errors.ts';
import type { CommandSpec, FlagSpec } from './command.ts';
import { RUN_EXITS } from './help.ts';

const OUTPUT_FLAGS: readonly FlagSpec[] = [
  ['--json', 'print one JSON document about the run at its end, instead of the results'],
  ['--events', 'print every event as a line of JSON, instead of the results'],
  ['--quiet', 'print no progress'],
  ['--verbose', 'also print what agents say and which tools they use'],
  ['--log-file <file>', 'also append every event to this file as a line of JSON'],
];

/** The flags of an option of a run: none, one, or one for each value of a switch. */
function flagsOf(option: Omit<Option, 'name'>, showsDefault = true): readonly FlagSpec[] {
  const { type, argument, help, negation, default: usual } = option;
  if (argument === undefined) return [];
  const flag = flagOf(option);
  if (type.kind !== 'boolean') {
    const repeatable = type.kind === 'variables' ? 'repeatable' : undefined;
    return [[`${flag} ${argument}`, showsDefault ? `${help}${describeDefault(option)}` : help, repeatable]];
  }
  const positive: FlagSpec = [flag, usual === true && showsDefault ? `${help} (default)` : help];
  return negation === undefined ? [positive] : [positive, [flag.replace('--', '--no-'), negation]];
}

function describeDefault({ type, default: usual, whenOmitted }: Omit<Option, 'name'>): string {
  if (whenOmitted !== undefined) return ` (default: ${whenOmitted})`;
  const written = type.format(usual);
  return written === null ? '' : ` (default ${written})`;
}

const RESUME_FLAGS: readonly FlagSpec[] = [
  ['--retry', 'retry failed agents and interrupted scripts'],
  ['--take-over', 'take the run over from a process on another machine'],
];

const RUN_FLAGS: readonly FlagSpec[] = [
  ['--input <text>', 'the value of {{result}} in the first state'],
  ['--dir <folder>', 'the folder that the agents work in (default: the current one)'],
  ['--name <text>', 'the name of the run in lists (default: that of the workflow)'],
  ['--run-id <id>', 'the id of the run (default: made from its name and the time)'],
  ...OPTIONS.flatMap((option) => flagsOf(option)),
  ...OUTPUT_FLAGS,
  ['--resume <run>', 'the same as `raymond resume RUN`'],
  ...RESUME_FLAGS.map(([form, help]): FlagSpec => [form, `with --resume: ${help}`]),
  ['--init-config', 'only write .raymond/config.toml, with every option explained'],
];

const PLATFORM_FLAG: FlagSpec = [
  '--platform <platform>',
  'the platform it is for: unix or windows (default: this one)',
];
const JSON_FLAG: FlagSpec = ['--json', 'print JSON'];

/** The commands, in the order of the help. */
export const COMMAND_TABLE: readonly CommandSpec[] = [
  {
    name: 'run',
    aliases: ['start'],
    args: '[WORKFLOW]',
    summary: 'run a workflow: a folder, a zip or a state file; the same as `raymond WORKFLOW`',
    flags: RUN_FLAGS,
    examples: ['raymond workflows/coding --budget 5', 'raymond workflows/coding/PLAN.md --input "Add a login page"'],
    exits: RUN_EXITS,
    load: async () => (await import('./commands/run.ts')).handleRun,
  },
  {
    name: 'resume',
    args: '[RUN]',
    summary:
      'continue a run that was paused, stopped, interrupted or killed, with the options it had unless you change them',
    flags: [...RESUME_FLAGS, ...OPTIONS.flatMap((option) => flagsOf(option, false)), ...OUTPUT_FLAGS],
    examples: ['raymond resume last', 'raymond resume last --budget 20', 'raymond resume coding-2026 --retry'],
    exits: RUN_EXITS,
    load: async () => (await import('./commands/resume.ts')).handleResume,
  },
  {
    name: 'list',
    aliases: ['ls'],
    summary: 'list the runs, unfinished ones first',
    flags: [JSON_FLAG],
    examples: ['raymond list'],
    load: async () => (await import('./commands/list.ts')).handleList,
  },
  {
    name: 'status',
    args: '[RUN]',
    summary: 'show the state of a run: its agents, what it waits for and how to continue',
    flags: [JSON_FLAG],
    examples: ['raymond status last'],
    load: async () => (await import('./commands/status.ts')).handleStatus,
  },
  {
    name: 'logs',
    args: '[RUN]',
    summary: 'show the log of a run: prompts, what Claude said and did, scripts, transitions',
    flags: [
      ['--agent <id>', 'only this agent'],
      ['--follow', 'keep printing while the run goes on'],
      ['--raw', 'print the recorded output of the turns unchanged'],
    ],
    examples: ['raymond logs last', 'raymond logs last --agent main_worker1 --follow'],
    load: async () => (await import('./commands/logs.ts')).handleLogs,
  },
  {
    name: 'stop',
    args: '[RUN]',
    summary: 'stop a run in another process, as soon as its running turns have ended',
    flags: [['--now', 'end the running turns, too']],
    examples: ['raymond stop last', 'raymond stop last --now'],
    load: async () => (await import('./commands/stop.ts')).handleStop,
  },
  {
    name: 'recover',
    summary: 'list the runs whose process has died',
    flags: [['--resume', 'resume all of them, one after the other'], JSON_FLAG],
    examples: ['raymond recover', 'raymond recover --resume'],
    exits: RUN_EXITS,
    load: async () => (await import('./commands/recover.ts')).handleRecover,
  },
  {
    name: 'doctor',
    summary: 'check everything that a run needs, and say what to do if something is missing',
    flags: [
      ['--ask', 'also send Claude one short prompt, for less than a cent, to check that it answers'],
      ...flagsOf(OPTION_TABLE.claude),
      JSON_FLAG,
    ],
    examples: ['raymond doctor', 'raymond doctor --ask'],
    exits: [
      [EXIT.completed, 'ready to run'],
      [EXIT.usage, 'something keeps runs from working'],
    ],
    anyOwner: true,
    load: async () => (await import('./commands/doctor.ts')).handleDoctor,
  },
  {
    name: 'init',
    args: '[DIR]',
    summary: 'create a first workflow, with comments, canned answers and a test',
    flags: [
      ['--schemas', 'only write the schemas for your editor, replacing older ones (default: into the current folder)'],
    ],
    examples: ['raymond init workflows/first', 'raymond init workflows/coding --schemas'],
    anyOwner: true,
    load: async () => (await import('./commands/init.ts')).handleInit,
  },
  {
    name: 'config',
    summary: 'show the options in effect here and which file each comes from',
    flags: [JSON_FLAG],
    examples: ['raymond config'],
    load: async () => (await import('./commands/config.ts')).handleConfig,
  },
  {
    name: 'trust',
    summary:
      'trust the config file of this project, as it is now, with settings that run programs or widen what agents may do',
    flags: [
      ['--yes', 'do not ask'],
      ['--list', 'only list what you have trusted'],
      ['--revoke [path]', 'trust it no longer: this project, or a path that --list names'],
    ],
    examples: ['raymond trust', 'raymond trust --yes', 'raymond trust --list', 'raymond trust --revoke'],
    exits: [
      [EXIT.completed, 'trusted, or there is nothing that needs it'],
      [EXIT.usage, 'not trusted'],
    ],
    anyOwner: true,
    load: async () => (await import('./commands/trust.ts')).handleTrust,
  },
  {
    name: 'lint',
    args: '[PATH...]',
    summary:
      'find mistakes in workflows (folders, zips or state files) before they cost money; by default in the current folder',
    flags: [
      JSON_FLAG,
      ['--format <format>', 'text, or github for annotations in GitHub Actions (default text)'],
      ['--level <level>', 'show only findings of this level or worse: error, warning or info (default info)'],
      ['--max-warnings <n>', 'fail if there are more warnings than this (default: no limit)'],
      ['--explain <rule>', 'only explain a rule, with an example'],
      PLATFORM_FLAG,
      ['--var <name=value>', 'a variable that runs will have; may be repeated', 'repeatable'],
    ],
    examples: [
      'raymond lint workflows/coding',
      'raymond lint workflows/* --format github --max-warnings 0',
      'raymond lint --explain silent-path',
    ],
    exits: [
      [EXIT.completed, 'no errors, and no more warnings than allowed'],
      [EXIT.failed, 'no errors, but more warnings than --max-warnings'],
      [EXIT.usage, 'wrong usage, such as a path that does not exist'],
      [EXIT.invalid, 'there are errors'],
    ],
    load: async () => (await import('./commands/lint.ts')).handleLint,
  },
  {
    name: 'graph',
    args: '[WORKFLOW]',
    summary: 'draw a workflow (by default the one in the current folder) or a run, as Mermaid, SVG or a web page',
    flags: [
      ['--format <format>', 'mermaid, svg or html (default: by the extension of the file, or mermaid)'],
      ['--output <file>', 'write to this file instead of stdout'],
      ['--run <run>', 'draw this run, even if there is a file of the same name'],
      PLATFORM_FLAG,
    ],
    examples: ['raymond graph workflows/coding', 'raymond graph last --output run.html'],
    exits: [
      [EXIT.completed, 'drawn, even if lint finds errors'],
      [EXIT.usage, 'wrong usage, such as a workflow or a run that does not exist'],
      [EXIT.invalid, 'the workflow or the run cannot be read'],
    ],
    load: async () => (await import('./commands/graph.ts')).handleGraph,
  },
  {
    name: 'test',
    args: '[PATH...]',
    summary: 'run the scenarios of workflows (by default those in the current folder) without Claude Code',
    flags: [
      ['--filter <text>', 'only the scenario with this name, or those whose name or file contains it'],
      ['--coverage', 'also show which states, transitions and policy entries were covered'],
      ['--min-coverage <percent>', 'fail if less is covered'],
      ['--graph <file>', 'draw the coverage over the workflow: .html, .svg, .mmd or .md'],
      ['--keep', 'keep the folders that the scenarios ran in, and show where they are'],
      ['--timeout <seconds>', 'end a scenario that takes longer; 0 for no limit (default 60)'],
      JSON_FLAG,
      ['--record <run>', 'instead, turn this run into a scenario'],
      ['--output <file>', 'with --record: the file to write, or - for stdout (default: beside the workflow)'],
      ['--real-scripts', 'also run scripts that have answers; with --record: do not record scripts'],
    ],
    examples: [
      'raymond test workflows/coding',
      'raymond test --coverage --min-coverage 90',
      'raymond test --record last',
    ],
    exits: [
      [EXIT.completed, 'every scenario passed'],
      [EXIT.failed, 'a scenario failed, or less is covered than --min-coverage'],
      [EXIT.usage, 'wrong usage, or there are no scenarios'],
      [EXIT.invalid, 'a scenario file or its workflow cannot be used'],
      [EXIT.interrupted, 'interrupted'],
    ],
    load: async () => (await import('./commands/test.ts')).handleTest,
  },
  {
    name: 'demo',
    args: '[DIR]',
    summary: 'run an example with canned answers: no account, no cost, under a minute',
    flags: [['--fast', 'do not wait as long as Claude Code would take']],
    examples: ['raymond demo', 'raymond demo /tmp/demo --fast'],
    exits: RUN_EXITS,
    anyOwner: true,
    load: async () => (await import('./commands/demo.ts')).handleDemo,
  },
];

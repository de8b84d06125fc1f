import { EXIT } from '../errors.ts';
import { type CommandSpec, type FlagSpec, JSON_FLAG } from './command.ts';
import { DATABASE_FLAGS } from './open-storage.ts';

const PLATFORM_FLAG: FlagSpec = [
  '--platform <platform>',
  'the platform it is for: unix or windows (default: this one)',
];

const ROOT_FLAG: FlagSpec = [
  '--root <dir>',
  'the folder outside of which no other workflow may be called, as for `run`',
];

/** The commands for authors of workflows, in the order of the help. */
export const AUTHOR_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'lint',
    alsoCalled: ['check', 'validate', 'verify'],
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
      ROOT_FLAG,
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
    alsoCalled: ['draw', 'diagram', 'html'],
    args: '[WORKFLOW]',
    summary: 'draw a workflow (by default the one in the current folder) or a run, as Mermaid, SVG or a web page',
    flags: [
      ['--format <format>', 'mermaid, svg or html (default: by the extension of the file, or mermaid)'],
      ['--html', 'draw a web page; without --output into NAME.graph.html in the current folder'],
      ['--output <file>', 'write to this file instead of stdout'],
      ['--run <run>', 'draw this run, even if there is a file of the same name'],
      PLATFORM_FLAG,
      ROOT_FLAG,
      ...DATABASE_FLAGS,
    ],
    examples: ['raymond graph workflows/coding', 'raymond graph last --html'],
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
      ROOT_FLAG,
      ['--timeout <seconds>', 'end a scenario that takes longer; 0 for no limit (default 60)'],
      JSON_FLAG,
      ['--record <run>', 'instead, turn this run into a scenario'],
      ['--output <file>', 'with --record: the file to write, or - for stdout (default: beside the workflow)'],
      ['--real-scripts', 'also run scripts that have answers; with --record: do not record scripts'],
      ...DATABASE_FLAGS.map(([form, help]): FlagSpec => [form, `with --record: ${help}`]),
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
];

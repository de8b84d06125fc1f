import { flagOf, OPTIONS } from '../core/options/options.ts';
import { type Setting, VIEW_OPTIONS } from '../core/options/view-options.ts';
import type { FlagSpec } from './command.ts';
import { DATABASE_FLAGS } from './open-storage.ts';

/** The flags of what a command shows and writes. */
export const VIEW_FLAGS: readonly FlagSpec[] = VIEW_OPTIONS.flatMap((option) => flagsOf(option, false));

const OUTPUT_FLAGS: readonly FlagSpec[] = [
  ['--json', 'print one JSON document about the run at its end, instead of the results'],
  ['--events', 'print every event as a line of JSON, instead of the results'],
  ...VIEW_FLAGS,
];

/** The flags of an option of a run: none, one, or one for each value of a switch. */
export function flagsOf(option: Omit<Setting, 'name'>, showsDefault = true): readonly FlagSpec[] {
  const { type, argument, help, negation, default: usual } = option;
  if (argument === undefined) return [];
  const flag = flagOf(option);
  if (type.kind !== 'boolean') {
    const repeatable = type.kind === 'variables' || type.kind === 'texts' ? 'repeatable' : undefined;
    return [[`${flag} ${argument}`, showsDefault ? `${help}${describeDefault(option)}` : help, repeatable]];
  }
  const positive: FlagSpec = [flag, usual === true && showsDefault ? `${help} (default)` : help];
  return negation === undefined ? [positive] : [positive, [flag.replace('--', '--no-'), negation]];
}

function describeDefault({ type, default: usual, whenOmitted }: Omit<Setting, 'name'>): string {
  if (whenOmitted !== undefined) return ` (default: ${whenOmitted})`;
  const written = type.format(usual);
  return written === null || typeof written === 'object' ? '' : ` (default ${written})`;
}

const RETRY_FLAGS: readonly FlagSpec[] = [
  ['--retry', 'retry failed agents and interrupted scripts'],
  ['--take-over', 'take the run over from a process on another machine'],
  ['--refuse-changed-code', 'pause again at code that has changed, instead of accepting it'],
];

const DETACH_FLAG: FlagSpec = ['--detach', 'with a database: do not follow the run, only print its id'];

/** The flags of `run`. */
export const RUN_FLAGS: readonly FlagSpec[] = [
  ['--input <text>', 'the value of {{result}} in the first state: a text, @FILE, or - for stdin'],
  ['--dir <folder>', 'the folder that the agents work in (default: the current one)'],
  ['--name <text>', 'the name of the run in lists (default: that of the workflow)'],
  ['--run-id <id>', 'the id of the run (default: made from its name and the time)'],
  ...OPTIONS.flatMap((option) => flagsOf(option)),
  ...OUTPUT_FLAGS,
  ...DATABASE_FLAGS,
  ['--label <name=value>', 'with a database: only a node with this label; may be repeated', 'repeatable'],
  DETACH_FLAG,
  ['--resume <run>', 'the same as `raymond resume RUN`'],
  ...RETRY_FLAGS.map(([form, help]): FlagSpec => [form, `with --resume: ${help}`]),
  ['--init-config', 'only write .raymond/config.toml, with every option explained'],
];

/** The flags of `rerun`. */
export const RERUN_FLAGS: readonly FlagSpec[] = [
  [
    '--from <point>',
    'where to begin: a turn (main/7), a state (REVIEW, REVIEW#2) or a question; without it, they are listed',
  ],
  [
    '--with <file=path>',
    'another file in the place of one of the workflow: REVIEW.md=new.md; may be repeated',
    'repeatable',
  ],
  ['--input <text>', 'another value of {{result}} in the first state: a text, @FILE, or - for stdin'],
  ['--say <text>', 'a message to the agent, before its first prompt; - reads it from stdin'],
  ['--only', 'let only this agent and its workers continue'],
  [
    '--files <which>',
    'then: the files of that moment, in a folder of the new run; now: those where the run worked (default then)',
  ],
  [
    '--link <name>',
    'an ignored file or folder to link into that folder, such as node_modules; may be repeated',
    'repeatable',
  ],
  ['--run-id <id>', 'the id of the new run (default: made from its name and the time)'],
  ...OPTIONS.flatMap((option) => flagsOf(option, false)),
  ...OUTPUT_FLAGS,
  ...DATABASE_FLAGS,
  DETACH_FLAG,
];

/** The flags of `resume`. */
export const RESUME_FLAGS: readonly FlagSpec[] = [
  ...RETRY_FLAGS,
  ...OPTIONS.flatMap((option) => flagsOf(option, false)),
  ...OUTPUT_FLAGS,
  ...DATABASE_FLAGS,
  DETACH_FLAG,
];

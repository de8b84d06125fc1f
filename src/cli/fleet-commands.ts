import { EXIT } from '../errors.ts';
import type { CommandSpec } from './command.ts';
import { DATABASE_FLAGS } from './database-option.ts';

const [DATABASE_FLAG] = DATABASE_FLAGS;
const ONLY_DATABASE = DATABASE_FLAG === undefined ? [] : [DATABASE_FLAG];

/** The commands for runs in a database, which any number of workers drive. */
export const FLEET_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'database',
    alsoCalled: ['db', 'postgres'],
    args: '[ACTION]',
    summary: 'prepare a PostgreSQL database for runs and workers: `raymond database init`, once',
    flags: ONLY_DATABASE,
    examples: ['raymond database init --database postgres://raymond@localhost/raymond'],
    exits: [
      [EXIT.completed, 'prepared, now or before'],
      [EXIT.usage, 'wrong usage, or a database that cannot be used'],
      [EXIT.invalid, 'the tables belong to an older or newer Raymond'],
    ],
    anyOwner: true,
    load: async () => (await import('./commands/database.ts')).handleDatabase,
  },
  {
    name: 'worker',
    alsoCalled: ['agent', 'runner', 'node'],
    summary: 'drive runs of a database on this machine, until it is told to end; Ctrl-C lets running turns finish',
    flags: [
      ...ONLY_DATABASE,
      ['--name <name>', 'its name, which no other worker has and which it keeps (default: that of the machine)'],
      ['--slots <n>', 'how many turns of Claude Code may run here at the same time (default 4)'],
      ['--label <name=value>', 'what runs can ask for with --label; may be repeated', 'repeatable'],
      ['--folder <folder>', 'where it keeps the files of its runs (default: a folder for its name in your home)'],
    ],
    examples: ['raymond worker --database postgres://raymond@localhost/raymond --name build-7 --slots 8'],
    exits: [
      [EXIT.completed, 'it was told to end, and all its turns have ended'],
      [EXIT.paused, 'another process has its name now'],
      [EXIT.usage, 'wrong usage, a database that cannot be used, or a name in use'],
      [EXIT.invalid, 'the tables belong to an older or newer Raymond'],
      [EXIT.interrupted, 'it was told twice: turns still run, and its next start goes on with them'],
    ],
    anyOwner: true,
    load: async () => (await import('./commands/worker.ts')).handleWorker,
  },
];

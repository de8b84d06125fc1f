import { EXIT } from '../errors.ts';
import { type CommandSpec, JSON_FLAG } from './command.ts';
import { DATABASE_FLAGS } from './open-storage.ts';

const [DATABASE_FLAG] = DATABASE_FLAGS;
const ONLY_DATABASE = DATABASE_FLAG === undefined ? [] : [DATABASE_FLAG];

/** The commands for runs in a database, which any number of nodes drive. */
export const FLEET_COMMANDS: readonly CommandSpec[] = [
  {
    name: 'database',
    alsoCalled: ['db', 'postgres'],
    args: '[ACTION]',
    summary: 'prepare a PostgreSQL database for runs and nodes: `raymond database init`, once',
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
    name: 'node',
    aliases: ['worker'],
    alsoCalled: ['agent', 'runner'],
    summary: 'drive runs of a database on this machine until stopped; Ctrl-C lets running turns finish',
    flags: [
      ...ONLY_DATABASE,
      ['--name <name>', 'its name, which no other node has and which it keeps (default: the name of the machine)'],
      ['--slots <n>', 'how many turns of Claude Code may run here at the same time (default 4)'],
      ['--label <name=value>', 'what runs can ask for with --label; may be repeated', 'repeatable'],
      ['--folder <folder>', 'where it keeps the files of its runs (default: a folder for its name in your home)'],
    ],
    examples: ['raymond node --database postgres://raymond@localhost/raymond --name build-7 --slots 8'],
    exits: [
      [EXIT.completed, 'it was stopped, and all its turns have ended'],
      [EXIT.paused, 'another process has its name now'],
      [EXIT.usage, 'wrong usage, a database that cannot be used, or a name in use'],
      [EXIT.invalid, 'the tables belong to an older or newer Raymond'],
      [EXIT.interrupted, 'it was stopped twice: turns still run, and its next start continues them'],
    ],
    anyOwner: true,
    load: async () => (await import('./commands/node.ts')).handleNode,
  },
  {
    name: 'nodes',
    alsoCalled: ['workers', 'machines', 'fleet'],
    summary: 'list the machines that drive runs of a database: slots, load, last heartbeat',
    flags: [JSON_FLAG, ...ONLY_DATABASE],
    examples: ['raymond nodes --database postgres://raymond@localhost/raymond'],
    anyOwner: true,
    load: async () => (await import('./commands/nodes.ts')).handleNodes,
  },
];

import { COMMAND_TABLE } from './command-table.ts';
import { splitLeadingFolders } from './leading-folders.ts';

/** All words that name a command. */
export const COMMAND_NAMES: readonly string[] = COMMAND_TABLE.flatMap(({ name, aliases = [] }) => [name, ...aliases]);

/** The flags that ask for help. */
export const HELP_FLAGS = ['-h', '--help'];
const PROGRAM_FLAGS = [...HELP_FLAGS, '-V', '--version'];

/**
 * Puts `run` before a workflow and `-C DIR` behind the command, and spells the other ways to ask for help or the version
 * as flags.
 */
export function normalizeArgv(argv: readonly string[]): readonly string[] {
  const { folders, words } = splitLeadingFolders(argv);
  const [first = '', ...rest] = words;
  if (first === 'help') return rest.length === 0 ? ['--help'] : [...rest.slice(0, 1), '--help'];
  if (first === '-v') return ['--version'];
  if (PROGRAM_FLAGS.includes(first)) return words;
  const folderFlags = folders.flatMap((folder) => ['-C', folder]);
  return COMMAND_NAMES.includes(first) ? [first, ...folderFlags, ...rest] : ['run', ...folderFlags, ...words];
}

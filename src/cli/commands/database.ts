import { EXIT } from '../../errors.ts';
import { openDatabase } from '../../fleet/database.ts';
import { initDatabase } from '../../fleet/schema.ts';
import { type CommandHandler, usageError } from '../command.ts';
import { requireDatabaseAddress } from '../database-option.ts';

/** `raymond database init`: makes the tables that runs and workers need. */
export const handleDatabase: CommandHandler = async ([action], options, terminal) => {
  if (action !== 'init')
    throw usageError(
      action === undefined ? 'there is nothing to do' : `there is no action ${action}`,
      'raymond database init',
    );
  const database = await openDatabase(requireDatabaseAddress(options, terminal), 1);
  try {
    const outcome = await initDatabase(database);
    const end = outcome === 'prepared' ? 'is prepared: `raymond worker` can start.' : 'was prepared already.';
    terminal.out(`${database.name} ${end}\n`);
    return EXIT.completed;
  } finally {
    await database.close();
  }
};

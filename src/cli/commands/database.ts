import { initDatabase } from '../../cluster/init-database.ts';
import { EXIT } from '../../errors.ts';
import { openDatabase } from '../../storage/postgres/database.ts';
import { type CommandHandler, usageError } from '../command.ts';
import { requireDatabaseAddress } from '../open-storage.ts';

/** `raymond database init`: makes the tables that runs and nodes need. */
export const handleDatabase: CommandHandler = async ([action], options, terminal) => {
  if (action !== 'init')
    throw usageError(
      action === undefined ? 'there is nothing to do' : `there is no action ${action}`,
      'raymond database init',
    );
  const database = await openDatabase(requireDatabaseAddress(options, terminal), 1);
  try {
    const outcome = await initDatabase(database);
    const end = {
      prepared: 'is prepared: `raymond node` can start.',
      upgraded: 'was upgraded: its runs continue when `raymond node` starts.',
      unchanged: 'was prepared already.',
    }[outcome];
    terminal.out(`${database.name} ${end}\n`);
    return EXIT.completed;
  } finally {
    await database.close();
  }
};

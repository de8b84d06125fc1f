import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { defaultWorkerFolder, runWorker } from '../../cluster/node.ts';
import type { CommandHandler } from '../command.ts';
import { requireDatabaseAddress } from '../open-storage.ts';
import { getCountOption, getRepeatedOption, getTextOption } from '../parsed-options.ts';

const DEFAULT_SLOTS = 4;

/** `raymond node`: drives runs of a database. */
export const handleNode: CommandHandler = async (_, options, terminal) => {
  const { env, cwd, err, onInterrupt } = terminal;
  const name = getTextOption(options, 'name') ?? hostname();
  const folder = getTextOption(options, 'folder');
  return runWorker({
    address: requireDatabaseAddress(options, terminal),
    name,
    env,
    onInterrupt,
    slots: getCountOption(options, 'slots') ?? DEFAULT_SLOTS,
    labels: getRepeatedOption(options, 'label'),
    folder: folder === undefined ? defaultWorkerFolder(env, name) : resolve(cwd, folder),
    say: (message) => err(`${new Date().toISOString()} ${message}\n`),
  });
};

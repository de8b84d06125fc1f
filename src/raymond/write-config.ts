import { dirname } from 'node:path';
import { configTemplate } from '../config/template.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { diskProblem } from '../store/disk-problem.ts';
import { createFile, makeFolder } from '../store/files.ts';
import { configFile } from './records.ts';

/** Writes a config file with every option explained, and says where. One that is there is left alone. */
export async function writeConfig(cwd: string): Promise<string> {
  const file = configFile(cwd);
  await makeFolder(dirname(file));
  const isNew = await createFile(file, configTemplate()).catch((cause: unknown) => {
    throw diskProblem(`${file} cannot be written`, cause, 'then try again.');
  });
  if (isNew) return file;
  throw new RaymondError(`There is a config file already: ${file}`, {
    exitCode: EXIT.usage,
    hint: 'It was left as it is. `raymond config` shows what it says. To start anew, move it away first.',
  });
}

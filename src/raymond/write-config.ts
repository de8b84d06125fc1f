import { dirname, join } from 'node:path';
import { CONFIG_SCHEMA, configTemplate } from '../config/template.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { diskProblem } from '../store/disk-problem.ts';
import { createFile, makeFolder, replaceFile } from '../store/files.ts';
import { publishedSchema } from './published-schema.ts';
import { configFile } from './records.ts';

/** Writes a config file with every option explained, and says where. One that is there is left alone. */
export async function writeConfig(cwd: string): Promise<string> {
  const file = configFile(cwd);
  await makeFolder(dirname(file));
  const isNew = await createFile(file, configTemplate()).catch((cause) => refuse(file, cause));
  if (isNew) {
    const schema = join(dirname(file), CONFIG_SCHEMA);
    await replaceFile(schema, publishedSchema('config')).catch((cause) => refuse(schema, cause));
    return file;
  }
  throw new RaymondError(`There is a config file already: ${file}`, {
    exitCode: EXIT.usage,
    hint: 'It was left as it is. `raymond config` shows what it says. To start anew, move it away first.',
  });
}

function refuse(file: string, cause: unknown): never {
  throw diskProblem(`${file} cannot be written`, cause, 'then try again.');
}

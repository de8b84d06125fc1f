import { dirname, join } from 'node:path';
import { CONFIG_SCHEMA_FILE, configTemplate } from '../../config/template.ts';
import { diskError } from '../../disk/disk-error.ts';
import { createFile, makePrivateFolder, replaceFile } from '../../disk/files.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import { readPublishedSchema } from '../../package-files.ts';
import { findConfigFile } from './load-config.ts';

/** Writes a config file that explains every option, and returns its path. An existing one is left unchanged. */
export async function writeConfig(cwd: string): Promise<string> {
  const file = findConfigFile(cwd);
  await makePrivateFolder(dirname(file));
  const isNew = await createFile(file, configTemplate()).catch((cause) => throwDiskProblem(file, cause));
  if (isNew) {
    const schema = join(dirname(file), CONFIG_SCHEMA_FILE);
    await replaceFile(schema, readPublishedSchema('config')).catch((cause) => throwDiskProblem(schema, cause));
    return file;
  }
  throw new RaymondError(`There already is a config file: ${file}`, {
    exitCode: EXIT.usage,
    hint: 'It was left unchanged. `raymond config` shows its settings. To start over, move it away first.',
  });
}

function throwDiskProblem(file: string, cause: unknown): never {
  throw diskError(`${file} cannot be written`, cause, 'then try again.');
}

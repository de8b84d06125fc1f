import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCodeOf } from '../../errors.ts';
import { explainInvalidFile, isFolderName } from '../../scenario/answer-schema.ts';

/**
 * Writes a file into an agent's working directory, folders included, or makes a folder; returns why it could not. A
 * file that begins with `#!` becomes executable.
 */
export function writeInsideFolder(cwd: string, name: string, content: string): string | null {
  const problem = explainInvalidFile(name, content);
  if (problem !== undefined) return problem;
  try {
    const path = join(cwd, name);
    mkdirSync(isFolderName(name) ? path : dirname(path), { recursive: true });
    if (isFolderName(name)) return null;
    writeFileSync(path, content);
    if (content.startsWith('#!')) chmodSync(path, 0o755);
    return null;
  } catch (error) {
    return `${name} cannot be written (${errorCodeOf(error)})`;
  }
}

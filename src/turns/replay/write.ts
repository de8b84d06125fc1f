import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf } from '../../errors.ts';
import { faultOfFile, isFolderName } from '../../scenario/answer-schema.ts';

/**
 * Writes a file into an agent's working directory, folders included, or makes a folder; gives back why it could not. What
 * begins with `#!` is a program, and can be run.
 */
export function writeInside(cwd: string, name: string, content: string): string | null {
  const fault = faultOfFile(name, content);
  if (fault !== undefined) return fault;
  try {
    const path = join(cwd, name);
    mkdirSync(isFolderName(name) ? path : dirname(path), { recursive: true });
    if (isFolderName(name)) return null;
    writeFileSync(path, content);
    if (content.startsWith('#!')) chmodSync(path, 0o755);
    return null;
  } catch (error) {
    return `${name} cannot be written (${codeOf(error)})`;
  }
}

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf } from '../../errors.ts';
import { faultOfPath } from '../../scenario/answer-schema.ts';

/** Writes a file into an agent's working directory, folders included; gives back why it could not. */
export function writeInside(cwd: string, name: string, content: string): string | null {
  const fault = faultOfPath(name);
  if (fault !== undefined) return fault;
  try {
    const path = join(cwd, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return null;
  } catch (error) {
    return `${name} cannot be written (${codeOf(error)})`;
  }
}

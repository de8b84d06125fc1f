import { appendFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Event } from '../core/event.ts';
import { codeOf } from '../errors.ts';
import { usage } from './usage.ts';

/** Appends events to a file as lines of JSON; does nothing where no file is asked for. It must be writable at the start. */
export function logTo(file: string | undefined, cwd: string): (event: Event) => void {
  if (file === undefined) return () => {};
  const path = resolve(cwd, file);
  try {
    appendFileSync(path, '', { mode: 0o600 });
  } catch (error) {
    throw usage(`--log-file ${file} cannot be written (${codeOf(error)})`, 'Name a file in a folder that is there.');
  }
  return (event) => appendFileSync(path, `${JSON.stringify(event)}\n`);
}

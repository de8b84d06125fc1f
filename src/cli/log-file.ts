import { appendFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Event } from '../core/event.ts';
import { errorCodeOf } from '../errors.ts';
import { createEventDocument } from '../events/event-document.ts';
import { usageError } from './usage-error.ts';

/**
 * Appends events to a file as lines of JSON; does nothing where no file is asked for. It must be writable at the start.
 * If it is not so later, that is told once, and the file is given up.
 */
export function openLogFile(
  file: string | undefined,
  cwd: string,
  warn: (line: string) => void,
): (event: Event) => void {
  if (file === undefined) return () => {};
  const path = resolve(cwd, file);
  try {
    appendFileSync(path, '', { mode: 0o600 });
  } catch (error) {
    throw usageError(
      `--log-file ${file} cannot be written (${errorCodeOf(error)})`,
      'Name a file in a folder that is there.',
    );
  }
  let isOpen = true;
  return (event) => {
    if (!isOpen) return;
    try {
      appendFileSync(path, `${JSON.stringify(createEventDocument(event))}\n`);
    } catch (error) {
      isOpen = false;
      warn(
        `warning: --log-file ${file} cannot be written any more (${errorCodeOf(error)}): it ends here, the run goes on`,
      );
    }
  };
}

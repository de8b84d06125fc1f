import { appendFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Event } from '../core/run/event.ts';
import { createEventDocument } from '../documents/event-document.ts';
import { errorCodeOf } from '../errors.ts';
import { formatJson } from '../language/text/json.ts';
import { usageError } from './command.ts';

/**
 * Returns a function that appends events to a file as lines of JSON, or does nothing if there is no file. A file that
 * cannot be written at the start is an error; if writing fails later, it warns once and gives the file up.
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
      'Name a file in a folder that exists.',
    );
  }
  let isOpen = true;
  return (event) => {
    if (!isOpen) return;
    try {
      appendFileSync(path, `${formatJson(createEventDocument(event))}\n`);
    } catch (error) {
      isOpen = false;
      warn(
        `warning: --log-file ${file} can no longer be written (${errorCodeOf(error)}): it ends here, the run continues`,
      );
    }
  };
}

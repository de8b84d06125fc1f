import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import type { Scope } from '../core/names.ts';
import { codeOf, EXIT, RaymondError } from '../errors.ts';
import { complaintsOf } from './complaint.ts';
import { type Document, type Fault, readDocument } from './document.ts';
import { type GivenFile, SCENARIO } from './schema.ts';
import { type Meaning, meaningOf } from './states.ts';

/** A scenario file that is YAML; whether it makes sense depends on its workflow. */
export interface ScenarioFile {
  /** What messages call it. */
  readonly name: string;
  /** Where it lies; relative names in it are seen from there. */
  readonly folder: string;
  readonly document: Document;
}

/** A scenario file that makes sense for its workflow. */
export interface CheckedFile extends ScenarioFile {
  readonly given: GivenFile;
  readonly stateOf: Meaning['stateOf'];
}

/** Reads a scenario file; throws an error that says why it cannot be read. */
export function openFile(path: string, name = path): ScenarioFile {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (cause) {
    const missing = codeOf(cause) === 'ENOENT';
    throw new RaymondError(missing ? `there is no ${name}` : `${name} cannot be read (${codeOf(cause)})`, {
      exitCode: EXIT.usage,
      hint: 'It should be a file of canned answers: see docs/replay.md.',
      cause,
    });
  }
  if (!isUtf8(bytes)) throw refused(name, [{ line: 1, column: 1, message: 'this is not UTF-8 text' }]);
  return readFile(name, bytes.toString('utf8'), dirname(path));
}

/** Makes a scenario file of its text. */
export function readFile(name: string, text: string, folder: string): ScenarioFile {
  const document = readDocument(text);
  if (!('value' in document)) throw refused(name, document);
  return { name, folder, document };
}

/** The workflow that a file is for: what it names, else the folder it lies in; in a folder `tests`, the one above. */
export function workflowOf({ folder, document }: ScenarioFile): string {
  const { value } = document;
  const named = typeof value === 'object' && value !== null && 'workflow' in value ? value.workflow : undefined;
  if (typeof named === 'string' && named !== '') return resolve(folder, named);
  return basename(resolve(folder)) === 'tests' ? resolve(folder, '..') : resolve(folder);
}

/** Checks a file, against itself and against the states of a workflow; throws one error that names everything wrong. */
export function checkFile(file: ScenarioFile, scope: Scope): CheckedFile {
  const { name, document } = file;
  const parsed = SCENARIO.safeParse(document.value);
  const { stateOf, faults } = meaningOf(document, scope);
  const wrong = [...complaintsOf(parsed.error?.issues ?? [], document), ...faults];
  if (wrong.length > 0 || !parsed.success) throw refused(name, wrong);
  return { ...file, given: parsed.data, stateOf };
}

function refused(name: string, faults: readonly Fault[]): RaymondError {
  const count = faults.length === 1 ? '1 error' : `${faults.length} errors`;
  const lines = faults
    .toSorted((a, b) => a.line - b.line || a.column - b.column)
    .map(({ line, column, message }) => `${name}:${line}:${column}: ${message}`);
  return new RaymondError(`${name} cannot be used: ${count}\n${lines.join('\n')}`, { exitCode: EXIT.invalid });
}

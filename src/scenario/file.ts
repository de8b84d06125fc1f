import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { codeOf, EXIT, RaymondError } from '../errors.ts';
import { type Document, type Fault, listed, mapping, readDocument } from './document.ts';
import type { GivenFile } from './schema.ts';
import { type Shape, shapeOf } from './shape.ts';
import { faultsOfNames, type Scopes } from './states.ts';

/** A scenario file that is YAML; whether it makes sense depends on its workflow, too. */
export interface ScenarioFile extends Shape {
  /** What messages call it. */
  readonly name: string;
  /** Where it lies; relative names in it are seen from there. */
  readonly folder: string;
}

/** A scenario file that makes sense for its workflow. */
export interface CheckedFile extends ScenarioFile {
  readonly given: GivenFile;
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
  return { name, folder, ...shapeOf(document) };
}

/**
 * The workflow of each scenario in a file: what it names, else what the file names, else the folder that the file lies in;
 * in a folder `tests`, the one above.
 */
export function workflowsOf({ folder, document }: ScenarioFile): readonly string[] {
  const whole = mapping(document.value);
  const scenarios = listed(whole.scenarios).map(mapping);
  return (scenarios.length === 0 ? [whole] : scenarios).map((own) => {
    const named = [own.workflow, whole.workflow].find((name) => typeof name === 'string' && name !== '');
    if (typeof named === 'string') return resolve(folder, named);
    return basename(resolve(folder)) === 'tests' ? resolve(folder, '..') : resolve(folder);
  });
}

/** Checks a file, against itself and against the states of its workflows; throws one error that names everything wrong. */
export function checkFile(file: ScenarioFile, scopes: Scopes): CheckedFile {
  const { name, document, given } = file;
  const faults = [...file.faults, ...namesakes(document), ...faultsOfNames(document, scopes)];
  if (faults.length > 0 || given === null) throw refused(name, faults);
  return { ...file, given };
}

/** Scenarios that go by the name of one before them: a verdict, or --filter, would not tell which is meant. */
function namesakes(document: Document): readonly Fault[] {
  const lines = new Map<unknown, number>();
  return listed(mapping(document.value).scenarios).flatMap((scenario, at) => {
    const { name } = mapping(scenario);
    const place = document.placeOfKey(['scenarios', at, 'name']);
    const first = lines.get(name);
    if (first === undefined) lines.set(name, place.line);
    if (first === undefined || name === undefined) return [];
    const message = `a scenario is called \`${name}\` already, on line ${first}: give each a name of its own`;
    return [{ ...place, message }];
  });
}

/** An error that names everything wrong with a file. */
export function refused(name: string, faults: readonly Fault[]): RaymondError {
  const count = faults.length === 1 ? '1 error' : `${faults.length} errors`;
  const lines = faults
    .toSorted((a, b) => a.line - b.line || a.column - b.column)
    .map(({ line, column, message }) => `${name}:${line}:${column}: ${message}`);
  return new RaymondError(`${name} cannot be used: ${count}\n${lines.join('\n')}`, { exitCode: EXIT.invalid });
}

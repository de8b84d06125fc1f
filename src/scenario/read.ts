import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import type { Scope } from '../core/names.ts';
import { codeOf, EXIT, RaymondError } from '../errors.ts';
import { complaintsOf } from './complaint.ts';
import { type Fault, readDocument } from './document.ts';
import type { Part, Scenario } from './scenario.ts';
import { SCENARIO } from './schema.ts';
import { meantStates } from './states.ts';

/** Reads the file of a scenario for a workflow of these states; throws one error that names everything wrong with it. */
export function openScenario(path: string, scope: Scope, name = path): Scenario {
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
  return readScenario(name, bytes.toString('utf8'), scope);
}

/** Makes a scenario of a file's text; `name` is what messages call the file. */
export function readScenario(name: string, text: string, scope: Scope): Scenario {
  const document = readDocument(text);
  if (!('value' in document)) throw refused(name, document);
  const parsed = SCENARIO.safeParse(document.value);
  const { files, faults } = meantStates(document, scope);
  const wrong = [...complaintsOf(parsed.error?.issues ?? [], document), ...faults];
  if (wrong.length > 0 || !parsed.success) throw refused(name, wrong);
  const parts = Object.entries(parsed.data.answers).flatMap(([key, cases]): [string, Part][] => {
    const file = files.get(key);
    return file === undefined ? [] : [[file, { line: document.placeOfKey(['answers', key]).line, cases }]];
  });
  return { file: name, parts: new Map(parts) };
}

function refused(name: string, faults: readonly Fault[]): RaymondError {
  const count = faults.length === 1 ? '1 error' : `${faults.length} errors`;
  const lines = faults
    .toSorted((a, b) => a.line - b.line || a.column - b.column)
    .map(({ line, column, message }) => `${name}:${line}:${column}: ${message}`);
  return new RaymondError(`${name} cannot be used: ${count}\n${lines.join('\n')}`, { exitCode: EXIT.invalid });
}

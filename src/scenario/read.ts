import { dirname, join, resolve } from 'node:path';
import type { Scope } from '../core/names.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { type CheckedFile, checkFile, openFile, readFile, type ScenarioFile } from './file.ts';
import type { Part, Scenario } from './scenario.ts';
import type { GivenScenario } from './schema.ts';

type Parts = Scenario['parts'];
type Path = readonly (string | number)[];

/** Reads the file of a scenario for a workflow of these states; throws one error that names everything wrong with it. */
export const openScenario = (path: string, scope: Scope, name = path): Scenario =>
  scenarioIn(openFile(path, name), scope);

/** Makes a scenario of a file's text; `name` is what messages call the file. */
export const readScenario = (name: string, text: string, scope: Scope): Scenario =>
  scenarioIn(readFile(name, text, dirname(name)), scope);

/** The canned answers of a file; of one that has several scenarios, those that they have in common. */
function scenarioIn(file: ScenarioFile, scope: Scope): Scenario {
  const checked = checkFile(file, scope);
  const { answers_from: from, scripts = 'real' } = checked.given;
  const parts = joined(
    from === undefined ? new Map() : partsFrom(checked, from, scope),
    partsOf(checked, checked.given),
  );
  return { file: file.name, parts, scripts };
}

/** Answers, some of which are replaced, state by state. */
export const joined = (...all: readonly Parts[]): Parts => new Map(all.flatMap((parts) => [...parts]));

/** The answers that a scenario of a file has of its own. */
export function partsOf({ name, document, stateOf }: CheckedFile, { answers }: GivenScenario, path: Path = []): Parts {
  const parts = Object.entries(answers ?? {}).flatMap(([key, cases]): [string, Part][] => {
    const state = stateOf(key);
    if (state === undefined) return [];
    return [[state, { file: name, line: document.placeOfKey([...path, 'answers', key]).line, cases }]];
  });
  return new Map(parts);
}

const MOST_FILES = 20;

/** The answers of another file, which may take some from a third. */
export function partsFrom({ name, folder }: CheckedFile, from: string, scope: Scope, depth = 1): Parts {
  const shown = join(dirname(name), from);
  if (depth > MOST_FILES) {
    throw new RaymondError(`${name} cannot be used: the files that \`answers_from\` names go round in a circle`, {
      exitCode: EXIT.invalid,
    });
  }
  const checked = checkFile(openFile(resolve(folder, from), shown), scope);
  const further = checked.given.answers_from;
  const base: Parts = further === undefined ? new Map() : partsFrom(checked, further, scope, depth + 1);
  return joined(base, partsOf(checked, checked.given));
}

import { dirname, join, resolve } from 'node:path';
import { isPrompt, type Scope } from '../core/names.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { type CheckedFile, checkFile, openFile, readFile, type ScenarioFile, workflowsOf } from './file.ts';
import { printsIn } from './prints.ts';
import type { Part, Parts, Scenario } from './scenario.ts';
import type { GivenScenario } from './schema.ts';
import { stateIn } from './states.ts';

type Path = readonly (string | number)[];

/** Reads the file of a scenario for a workflow of these states; throws one error that names everything wrong with it. */
export const openScenario = (path: string, scope: Scope, name = path): Scenario =>
  scenarioIn(openFile(path, name), scope);

/** Makes a scenario of a file's text; `name` is what messages call the file. */
export const readScenario = (name: string, text: string, scope: Scope): Scenario =>
  scenarioIn(readFile(name, text, dirname(name)), scope);

/** The canned answers of a file; of one that has several scenarios, those that they have in common. */
function scenarioIn(file: ScenarioFile, scope: Scope): Scenario {
  const checked = checkAnswers(file, scope);
  const { answers_from: from, scripts = 'real' } = checked.given;
  const parts = joined(
    from === undefined ? new Map() : partsFrom(checked, from, scope),
    partsOf(checked, scope, checked.given),
  );
  return { file: file.name, parts, scripts, recorded: recordedIn(scope, checked.given) };
}

/** Checks a file for whoever wants only its answers: a scenario that names a workflow of its own may be for another. */
function checkAnswers(file: ScenarioFile, scope: Scope): CheckedFile {
  const isForeign = (at: number): boolean => file.given?.scenarios?.[at]?.workflow !== undefined;
  return checkFile(
    file,
    workflowsOf(file).map((_, at) => (isForeign(at) ? null : scope)),
  );
}

/** Answers, some of which are replaced, state by state. */
export const joined = (...all: readonly Parts[]): Parts => new Map(all.flatMap((parts) => [...parts]));

/** The answers that a scenario of a file has of its own. */
export function partsOf(
  { name, document }: CheckedFile,
  scope: Scope,
  { answers }: GivenScenario,
  path: Path = [],
): Parts {
  const parts = Object.entries(answers ?? {}).flatMap(([key, cases]): [string, Part][] => {
    const state = stateIn(scope, key);
    if (state === undefined) return [];
    const at = [...path, 'answers', key];
    const prints = isPrompt(state) ? [] : printsIn(document, at);
    return [[state, { file: name, ...document.placeOfKey(at), cases, prints }]];
  });
  return new Map(parts);
}

/** The fingerprints of scripts that a scenario of a file has of its own. */
export function recordedIn(scope: Scope, { recorded_scripts: given }: GivenScenario): Scenario['recorded'] {
  return new Map(Object.entries(given ?? {}).map(([name, print]) => [stateIn(scope, name) ?? name, print]));
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
  const checked = checkAnswers(openFile(resolve(folder, from), shown), scope);
  const further = checked.given.answers_from;
  const base: Parts = further === undefined ? new Map() : partsFrom(checked, further, scope, depth + 1);
  return joined(base, partsOf(checked, scope, checked.given));
}

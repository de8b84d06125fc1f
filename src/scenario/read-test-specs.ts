import { basename, resolve } from 'node:path';
import { SETTINGS } from '../config/settings.ts';
import type { Scope } from '../core/state-names.ts';
import type { Options } from '../core/run.ts';
import { readExpectations } from './read-expectations.ts';
import { type CheckedScenarioFile, checkScenarioFile, type ScenarioFile, scenarioFileError } from './file.ts';
import { listFixtures } from './fixtures.ts';
import { mergeAnswers, readAnswers, readAnswersFrom, readScriptFingerprints } from './read-scenario.ts';
import type { TestSpec } from './test-spec.ts';
import type { ScenarioContent, ScenarioFileContent } from './schema.ts';

/**
 * The scenarios of a file, for workflows of these states, one for each of them; throws one error that names everything
 * wrong with it.
 */
export function readTestSpecs(file: ScenarioFile, scopes: readonly Scope[]): readonly TestSpec[] {
  const checked = checkScenarioFile(file, scopes);
  const { scenarios, ...shared } = checked.content;
  return scopes.map((scope, at) => {
    const own = scenarios?.[at];
    if (own === undefined) return buildTestSpec(checked, scope, shared, [], {});
    return buildTestSpec(checked, scope, own, ['scenarios', at], shared);
  });
}

function buildTestSpec(
  file: CheckedScenarioFile,
  scope: Scope,
  own: ScenarioContent,
  path: readonly (string | number)[],
  shared: ScenarioFileContent,
): TestSpec {
  const { input, scripts, answers_from: from } = { ...shared, ...own };
  const base = from === undefined ? new Map() : readAnswersFrom(file, from, scope);
  const ownAnswers = readAnswers(file, scope, own, path);
  const sharedAnswers = readAnswers(file, scope, shared);
  const variables = { ...shared.vars, ...own.vars };
  return {
    name: own.name ?? basename(file.name).replace(/(\.test)?\.ya?ml$/, ''),
    at: file.document.positionOf(path),
    scenario: {
      file: file.name,
      answers: mergeAnswers(base, sharedAnswers, ownAnswers),
      scripts: scripts ?? 'real',
      scriptFingerprints: new Map([...readScriptFingerprints(scope, shared), ...readScriptFingerprints(scope, own)]),
    },
    ...{ ownAnswers: ownAnswers, sharedAnswers: sharedAnswers, scenariosInFile: file.content.scenarios?.length ?? 1 },
    input: input ?? null,
    options: { ...toRunOptions({ ...shared.options, ...own.options }), variables },
    files: { ...shared.files, ...own.files },
    fixtures: own.files_from === undefined ? readFixtures(file, shared, []) : readFixtures(file, own, path),
    expectations: readExpectations(file, scope, own.expect ?? {}, [...path, 'expect']),
  };
}

/** The folder of fixtures that a block names; an error if it cannot be used. */
function readFixtures(
  { name, folder, document }: CheckedScenarioFile,
  { files_from: from }: ScenarioContent,
  path: readonly (string | number)[],
): TestSpec['fixtures'] {
  if (from === undefined) return null;
  const found = listFixtures(resolve(folder, from));
  if (typeof found !== 'string') return found;
  const message = `\`${from}\` cannot be copied: ${found}`;
  throw scenarioFileError(name, [{ ...document.positionOf([...path, 'files_from']), message }]);
}

function toRunOptions(settings: NonNullable<ScenarioContent['options']>): Partial<Options> {
  return Object.assign({}, ...Object.entries(settings).map(([key, value]) => SETTINGS[key]?.toOptions(value)));
}

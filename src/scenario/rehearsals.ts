import { basename, resolve } from 'node:path';
import { SETTINGS } from '../config/settings.ts';
import type { Scope } from '../core/names.ts';
import type { Options } from '../core/run.ts';
import { expectationsIn } from './expectations.ts';
import { type CheckedFile, checkFile, refused, type ScenarioFile } from './file.ts';
import { fixturesIn } from './fixtures.ts';
import { joined, partsFrom, partsOf, recordedIn } from './read.ts';
import type { Rehearsal } from './rehearsal.ts';
import type { GivenFile, GivenScenario } from './schema.ts';

/**
 * The scenarios of a file, for workflows of these states, one for each of them; throws one error that names everything
 * wrong with it.
 */
export function rehearsalsIn(file: ScenarioFile, scopes: readonly Scope[]): readonly Rehearsal[] {
  const checked = checkFile(file, scopes);
  const { scenarios, ...shared } = checked.given;
  return scopes.map((scope, at) => {
    const own = scenarios?.[at];
    if (own === undefined) return rehearsalOf(checked, scope, shared, [], {});
    return rehearsalOf(checked, scope, own, ['scenarios', at], shared);
  });
}

function rehearsalOf(
  file: CheckedFile,
  scope: Scope,
  own: GivenScenario,
  path: readonly (string | number)[],
  shared: GivenFile,
): Rehearsal {
  const { input, scripts, answers_from: from } = { ...shared, ...own };
  const base = from === undefined ? new Map() : partsFrom(file, from, scope);
  const mine = partsOf(file, scope, own, path);
  const beside = partsOf(file, scope, shared);
  const variables = { ...shared.vars, ...own.vars };
  return {
    name: own.name ?? basename(file.name).replace(/(\.test)?\.ya?ml$/, ''),
    at: file.document.placeOf(path),
    scenario: {
      file: file.name,
      parts: joined(base, beside, mine),
      scripts: scripts ?? 'real',
      recorded: new Map([...recordedIn(scope, shared), ...recordedIn(scope, own)]),
    },
    ...{ own: mine, shared: beside, siblings: file.given.scenarios?.length ?? 1 },
    input: input ?? null,
    options: { ...optionsOf({ ...shared.options, ...own.options }), variables },
    files: { ...shared.files, ...own.files },
    fixtures: own.files_from === undefined ? fixturesOf(file, shared, []) : fixturesOf(file, own, path),
    expectations: expectationsIn(file, scope, own.expect ?? {}, [...path, 'expect']),
  };
}

/** The folder of fixtures that a block names; an error if it cannot be used. */
function fixturesOf(
  { name, folder, document }: CheckedFile,
  { files_from: from }: GivenScenario,
  path: readonly (string | number)[],
): Rehearsal['fixtures'] {
  if (from === undefined) return null;
  const found = fixturesIn(resolve(folder, from));
  if (typeof found !== 'string') return found;
  const message = `\`${from}\` cannot be copied: ${found}`;
  throw refused(name, [{ ...document.placeOf([...path, 'files_from']), message }]);
}

function optionsOf(given: NonNullable<GivenScenario['options']>): Partial<Options> {
  return Object.assign({}, ...Object.entries(given).map(([key, value]) => SETTINGS[key]?.option(value)));
}

import { basename } from 'node:path';
import { SETTINGS } from '../config/settings.ts';
import type { Scope } from '../core/names.ts';
import type { Options } from '../core/run.ts';
import { expectationsIn } from './expectations.ts';
import { type CheckedFile, checkFile, type ScenarioFile } from './file.ts';
import { joined, partsFrom, partsOf } from './read.ts';
import type { Rehearsal } from './rehearsal.ts';
import type { GivenFile, GivenScenario } from './schema.ts';

/** The scenarios of a file, for a workflow of these states; throws one error that names everything wrong with it. */
export function rehearsalsIn(file: ScenarioFile, scope: Scope): readonly Rehearsal[] {
  const checked = checkFile(file, scope);
  const { scenarios, ...only } = checked.given;
  if (scenarios === undefined) return [rehearsalOf(checked, scope, only, [], {})];
  return scenarios.map((given, index) => rehearsalOf(checked, scope, given, ['scenarios', index], only));
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
  const variables = { ...shared.vars, ...own.vars };
  return {
    name: own.name ?? basename(file.name).replace(/(\.test)?\.ya?ml$/, ''),
    at: file.document.placeOf(path),
    scenario: {
      file: file.name,
      parts: joined(base, partsOf(file, shared), partsOf(file, own, path)),
      scripts: scripts ?? 'real',
    },
    input: input ?? null,
    options: { ...optionsOf({ ...shared.options, ...own.options }), variables },
    files: { ...shared.files, ...own.files },
    expectations: expectationsIn(file, own.expect ?? {}, [...path, 'expect']),
  };
}

function optionsOf(given: NonNullable<GivenScenario['options']>): Partial<Options> {
  return Object.assign({}, ...Object.entries(given).map(([key, value]) => SETTINGS[key]?.option(value)));
}

import { basename, resolve } from 'node:path';
import { OPTIONS, type Options } from '../core/options.ts';
import { isPrompt, type Scope } from '../core/state-names.ts';
import type { ExpectContent } from './expect-schema.ts';
import { type CheckedScenarioFile, checkScenarioFile, type ScenarioFile, scenarioFileError } from './file.ts';
import { listFixtures } from './fixtures.ts';
import { mergeAnswers, readAnswers, readAnswersFrom, readScriptFingerprints } from './read-scenario.ts';
import type { ScenarioContent, ScenarioFileContent } from './schema.ts';
import { findStateFile, splitAgentAndState } from './state-names.ts';
import type { Expectation, PositionedExpectation, TestSpec, TextExpectation } from './test-spec.ts';

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

function toRunOptions(written: NonNullable<ScenarioContent['options']>): Partial<Options> {
  const given = OPTIONS.filter(({ key }) => written[key] !== undefined);
  return Object.fromEntries(given.map(({ name, key, type }) => [name, type.parse(written[key])]));
}

type Path = readonly (string | number)[];

/** What a scenario expects, one thing after the other, each with its place. */
function readExpectations(
  { document }: CheckedScenarioFile,
  scope: Scope,
  content: ExpectContent,
  path: Path,
): readonly PositionedExpectation[] {
  const withPosition = (keys: Path, expectation: Expectation): PositionedExpectation => ({
    ...expectation,
    ...document.positionOfKey([...path, ...keys]),
  });
  const toStateFile = (name: string): string => findStateFile(scope, name) ?? name;
  const { path: pathContent, result, results = {}, prompts = {}, files = {}, status, exit } = content;
  const pathsByAgent = Array.isArray(pathContent) ? { main: pathContent } : (pathContent ?? {});
  const amounts = (['cost', 'turns', 'reminders', 'warnings'] as const).flatMap((kind) => {
    const value = content[kind] ?? {};
    const toExpectation = (name: string | null, amount: number): Expectation =>
      kind === 'cost' ? { kind, state: name, usd: amount } : { kind, state: name, count: amount };
    if (typeof value === 'number') return [withPosition([kind], toExpectation(null, value))];
    return Object.entries(value).map(([name, amount]) =>
      withPosition([kind, name], toExpectation(toStateFile(name), amount)),
    );
  });
  return [
    ...(status === undefined ? [] : [withPosition(['status'], { kind: 'status', status })]),
    ...(exit === undefined ? [] : [withPosition(['exit'], { kind: 'exit', code: exit })]),
    ...Object.entries(pathsByAgent).map(([agent, states]) =>
      withPosition(Array.isArray(pathContent) ? ['path'] : ['path', agent], {
        kind: 'path',
        agent,
        states: states.map(toStateFile),
      }),
    ),
    ...(result === undefined
      ? []
      : [withPosition(['result'], { kind: 'result', agent: 'main', text: toTextExpectation(result) })]),
    ...Object.entries(results).map(([agent, value]) =>
      withPosition(['results', agent], { kind: 'result', agent, text: toTextExpectation(value) }),
    ),
    ...Object.entries(prompts).flatMap(([key, value]) => {
      const { agent, name } = splitAgentAndState(key);
      if (!isPrompt(toStateFile(name))) return [];
      const [every, visits] = [!Array.isArray(value), [value].flat().map(toTextExpectation)];
      return [withPosition(['prompts', key], { kind: 'prompts', agent, state: toStateFile(name), every, visits })];
    }),
    ...Object.entries(files).map(([name, value]) => {
      const absent = typeof value === 'object' && value.absent === true;
      return withPosition(['files', name], { kind: 'file', name, text: absent ? null : toTextExpectation(value) });
    }),
    ...amounts,
  ];
}

type TextExpectationContent = NonNullable<ExpectContent['result']>;

function toTextExpectation(value: TextExpectationContent): TextExpectation {
  if (typeof value === 'string') return { equals: value, contains: [], lacks: [], matches: [] };
  const { equals = null, contains = [], lacks = [], matches = [] } = value;
  return { equals, contains, lacks, matches };
}

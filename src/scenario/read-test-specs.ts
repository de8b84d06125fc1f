import { basename, resolve } from 'node:path';
import { OPTIONS, type Options } from '../core/options/options.ts';
import { isPrompt, type Scope } from '../language/state-names.ts';
import type { YamlPath } from '../yaml/document.ts';
import { readAsks } from './asks.ts';
import type { ExpectContent } from './expect-schema.ts';
import { type CheckedScenarioFile, checkScenarioFile, type ScenarioFile, scenarioFileError } from './file.ts';
import { mergeAnswers, readAnswers, readAnswersFrom, readScriptFingerprints } from './read-scenario.ts';
import type { ScenarioContent, ScenarioFileContent } from './schema.ts';
import { findStateFile, splitAgentAndState } from './state-names.ts';
import {
  type Expectation,
  listFixtures,
  type PositionedExpectation,
  type TestSpec,
  type TextExpectation,
} from './test-spec.ts';

/** Reads the scenarios of a file, given the states of each one's workflow; throws one error that names everything wrong. */
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
  path: YamlPath,
  shared: ScenarioFileContent,
): TestSpec {
  const { input, scripts, answers_from: from } = { ...shared, ...own };
  const base = readAnswersFrom(file, from, scope);
  const ownAnswers = readAnswers(file, scope, own, path);
  const sharedAnswers = readAnswers(file, scope, shared);
  const [sharedAsks, ownAsks] = [readAsks(file, scope, shared.asks), readAsks(file, scope, own.asks, path)];
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
    ownAnswers,
    sharedAnswers,
    asks: new Map([...sharedAsks, ...ownAsks]),
    ownAsks,
    scenariosInFile: file.content.scenarios?.length ?? 1,
    input: input ?? null,
    options: { ...toRunOptions({ ...shared.options, ...own.options }), variables },
    files: { ...shared.files, ...own.files },
    programs: { ...shared.bin, ...own.bin },
    fixtures: own.files_from === undefined ? readFixtures(file, shared, []) : readFixtures(file, own, path),
    expectations: readExpectations(file, scope, own.expect ?? {}, [...path, 'expect']),
  };
}

/** Lists the fixtures that a block names; throws an error if they cannot be used. */
function readFixtures(
  { name, folder, document }: CheckedScenarioFile,
  { files_from: from }: ScenarioContent,
  path: YamlPath,
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

/** Reads `expect` as a list of expectations, each with the position of its key. */
function readExpectations(
  { document }: CheckedScenarioFile,
  scope: Scope,
  content: ExpectContent,
  path: YamlPath,
): readonly PositionedExpectation[] {
  const { path: states, result, results, prints, prompts, files, status, exit } = content;
  const toStateFile = (name: string): string => findStateFile(scope, name) ?? name;
  const withPosition = (keys: YamlPath, expectation: Expectation): PositionedExpectation => ({
    ...expectation,
    ...document.positionOfKey([...path, ...keys]),
  });
  const single = <T>(key: string, value: T | undefined, toExpectation: (value: T) => Expectation) =>
    value === undefined ? [] : [withPosition([key], toExpectation(value))];
  const byName = <T>(
    key: string,
    values: Readonly<Record<string, T>> | undefined,
    toExpectation: (name: string, value: T) => Expectation | undefined,
  ) =>
    Object.entries(values ?? {}).flatMap(([name, value]) => {
      const expectation = toExpectation(name, value);
      return expectation === undefined ? [] : [withPosition([key, name], expectation)];
    });

  const toPath = (agent: string, names: readonly string[]): Expectation => ({
    kind: 'path',
    agent,
    states: names.map(toStateFile),
  });
  const toResult = (agent: string, text: TextExpectationContent): Expectation => ({
    kind: 'result',
    agent,
    text: toTextExpectation(text),
  });
  const toPrints = (agent: string, texts: readonly string[]): Expectation => ({ kind: 'prints', agent, texts });
  const amounts = AMOUNT_KINDS.flatMap((kind) => {
    const value = content[kind];
    return typeof value === 'number'
      ? single(kind, value, (amount) => toAmount(kind, null, amount))
      : byName(kind, value, (name, amount) => toAmount(kind, toStateFile(name), amount));
  });
  return [
    ...single('status', status, (value) => ({ kind: 'status', status: value })),
    ...single('exit', exit, (code) => ({ kind: 'exit', code })),
    ...(Array.isArray(states)
      ? single('path', states, (names) => toPath('main', names))
      : byName('path', states, toPath)),
    ...single('result', result, (text) => toResult('main', text)),
    ...byName('results', results, toResult),
    ...(Array.isArray(prints)
      ? single('prints', prints, (texts) => toPrints('main', texts))
      : byName('prints', prints, toPrints)),
    ...byName('prompts', prompts, (key, texts) => {
      const { agent, name } = splitAgentAndState(key, scope);
      const state = toStateFile(name);
      const visits = [texts].flat().map(toTextExpectation);
      return isPrompt(state) ? { kind: 'prompts', agent, state, every: !Array.isArray(texts), visits } : undefined;
    }),
    ...byName('files', files, (name, file) => {
      const isAbsent = typeof file === 'object' && file.absent === true;
      return { kind: 'file', name, text: isAbsent ? null : toTextExpectation(file) };
    }),
    ...amounts,
  ];
}

const AMOUNT_KINDS = ['cost', 'turns', 'reminders', 'warnings'] as const;

const toAmount = (kind: (typeof AMOUNT_KINDS)[number], state: string | null, amount: number): Expectation =>
  kind === 'cost' ? { kind, state, usd: amount } : { kind, state, count: amount };

type TextExpectationContent = NonNullable<ExpectContent['result']>;

function toTextExpectation(value: TextExpectationContent): TextExpectation {
  if (typeof value === 'string') return { equals: value, contains: [], lacks: [], matches: [] };
  const { equals = null, contains = [], lacks = [], matches = [] } = value;
  return { equals, contains, lacks, matches };
}

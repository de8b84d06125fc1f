import { isPrompt, type Scope } from '../core/state-names.ts';
import type { ExpectContent } from './expect-schema.ts';
import type { CheckedScenarioFile } from './file.ts';
import type { Expectation, PositionedExpectation, TextExpectation } from './test-spec.ts';
import { findStateFile, splitAgentAndState } from './state-names.ts';

type Path = readonly (string | number)[];

/** What a scenario expects, one thing after the other, each with its place. */
export function readExpectations(
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

import { isPrompt, type Scope } from '../core/names.ts';
import type { Expected } from './expect-schema.ts';
import type { CheckedFile } from './file.ts';
import type { Expectation, TextWish, Wish } from './rehearsal.ts';
import { stateIn, visitorAndState } from './states.ts';

type Path = readonly (string | number)[];

/** What a scenario expects, one thing after the other, each with its place. */
export function expectationsIn(
  { document }: CheckedFile,
  scope: Scope,
  expected: Expected,
  path: Path,
): readonly Expectation[] {
  const at = (keys: Path, wish: Wish): Expectation => ({ ...wish, ...document.placeOfKey([...path, ...keys]) });
  const state = (name: string): string => stateIn(scope, name) ?? name;
  const { path: way, result, results = {}, prompts = {}, files = {}, status, exit } = expected;
  const ways = Array.isArray(way) ? { main: way } : (way ?? {});
  const amounts = (['cost', 'turns', 'reminders', 'warnings'] as const).flatMap((kind) => {
    const given = expected[kind] ?? {};
    const wish = (name: string | null, amount: number): Wish =>
      kind === 'cost' ? { kind, state: name, usd: amount } : { kind, state: name, count: amount };
    if (typeof given === 'number') return [at([kind], wish(null, given))];
    return Object.entries(given).map(([name, amount]) => at([kind, name], wish(state(name), amount)));
  });
  return [
    ...(status === undefined ? [] : [at(['status'], { kind: 'status', status })]),
    ...(exit === undefined ? [] : [at(['exit'], { kind: 'exit', code: exit })]),
    ...Object.entries(ways).map(([agent, states]) =>
      at(Array.isArray(way) ? ['path'] : ['path', agent], { kind: 'path', agent, states: states.map(state) }),
    ),
    ...(result === undefined ? [] : [at(['result'], { kind: 'result', agent: 'main', text: textWish(result) })]),
    ...Object.entries(results).map(([agent, wish]) =>
      at(['results', agent], { kind: 'result', agent, text: textWish(wish) }),
    ),
    ...Object.entries(prompts).flatMap(([key, wish]) => {
      const { agent, name } = visitorAndState(key);
      if (!isPrompt(state(name))) return [];
      const [every, visits] = [!Array.isArray(wish), [wish].flat().map(textWish)];
      return [at(['prompts', key], { kind: 'prompts', agent, state: state(name), every, visits })];
    }),
    ...Object.entries(files).map(([name, wish]) => {
      const absent = typeof wish === 'object' && wish.absent === true;
      return at(['files', name], { kind: 'file', name, text: absent ? null : textWish(wish) });
    }),
    ...amounts,
  ];
}

type GivenWish = NonNullable<Expected['result']>;

function textWish(given: GivenWish): TextWish {
  if (typeof given === 'string') return { equals: given, contains: [], lacks: [], matches: [] };
  const { equals = null, contains = [], lacks = [], matches = [] } = given;
  return { equals, contains, lacks, matches };
}

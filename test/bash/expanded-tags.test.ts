import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readScriptTags } from '../../src/bash/script-tags.ts';
import { hasUnknownPart } from '../../src/language/tags/tag-mentions.ts';
import { inBash } from './bash.ts';

const WINDOWS = process.platform === 'win32';
const MAX_CONDITIONS = 5;

const LEAVES = [
  'v=A',
  'v=B',
  'w=C',
  'w=$v',
  'v=$w',
  'v=${w:-D}',
  'local_v',
  'global_w',
  'echo "<goto>$v</goto>"',
  'echo "<goto>$w</goto>"',
  'say E',
  'say "$v"',
  'say_as "$w"',
  'printf "<goto>%s</goto>\\n" "$v" F',
  'exit',
];

/** `?` stands for a condition and `@` for a list of commands. */
const SHAPES = [
  'if ?; then @; else @; fi',
  'if ?; then @; fi',
  '? && { @; }',
  'for v in G H; do @; done',
  'for x in 1 2; do @; done',
  '( @ )',
];

const FUNCTIONS = `local_v() { local v=X; }
global_w() { w=Y; }
say() { echo "<goto>$1</goto>"; }
say_as() { local t=$1; echo "<goto>$t</goto>"; }
v=A; w=B
`;

const list: fc.Arbitrary<string> = fc.letrec<{ list: string; command: string }>((tie) => ({
  list: fc.array(tie('command'), { minLength: 1, maxLength: 4 }).map((commands) => commands.join('\n')),
  command: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(...LEAVES),
    fc.tuple(fc.constantFrom(...SHAPES), tie('list'), tie('list')).map(([shape, a, b]) => {
      const lists = [a, b];
      return shape.replaceAll('@; ', () => `\n${lists.shift() ?? ':'}\n`).replace('@ ', `\n${a}\n`);
    }),
  ),
})).list;

const made = list
  .map((body) => {
    let conditions = 0;
    return { script: FUNCTIONS + body.replaceAll('?', () => `[ "$b${conditions++}" = 1 ]`), conditions };
  })
  .filter(({ conditions }) => conditions <= MAX_CONDITIONS);

test.skipIf(WINDOWS)('every target that bash prints is one that was found (not on Windows)', () => {
  const all = fc.sample(made, { numRuns: 100, seed: 1 });
  const cases = all.flatMap(({ script, conditions }) =>
    Array.from({ length: 2 ** conditions }, (_, bits) => {
      const set = Array.from({ length: conditions }, (_, n) => `b${n}=${(bits >> n) & 1}`);
      return [...set, script].join('\n');
    }),
  );
  const outputs = [...inBash('( eval "$case" ) 2>/dev/null', cases)];
  let [known, printed] = [0, 0];
  for (const { script, conditions } of all) {
    const said = outputs.splice(0, 2 ** conditions).flatMap((output) => [...output.matchAll(/<goto>(.*?)<\/goto>/g)]);
    const real = new Set(said.map(([, target = '']) => target));
    const forms = readScriptTags('START.sh', script).expandedTags.map(({ tag }) => tag.body);
    const missed = forms.some(hasUnknownPart) ? [] : [...real].filter((target) => !forms.includes(target));
    expect({ script, missed }).toStrictEqual({ script, missed: [] });
    known += forms.some(hasUnknownPart) ? 0 : new Set(forms).size;
    printed += forms.some(hasUnknownPart) ? 0 : real.size;
  }
  // Not much is said to be possible that is never printed.
  expect(known).toBeGreaterThan(50);
  expect(known).toBeLessThan(2 * printed);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseScript } from '../../src/bash/parse.ts';
import { findScriptPaths } from '../../src/bash/script-tags.ts';
import { VariableValues } from '../../src/bash/variable-values.ts';
import { readTags } from '../../src/language/tags/tag.ts';
import { TAG_NAMES } from '../../src/language/transitions/index.ts';
import { inBash } from './bash.ts';

function pathsOf(text: string) {
  const script = parseScript(text)?.commands ?? [];
  return findScriptPaths(script, new VariableValues(script, text));
}

const WINDOWS = process.platform === 'win32';
const MAX_CONDITIONS = 5;

/** A script in which each condition asks for a bit of its own, so that every path through is really taken by some bits. */
interface Made {
  readonly script: string;
  readonly conditions: number;
}

const LEAVES = [
  'echo "<goto>A</goto>"',
  'echo "<result>x</result>"',
  'echo \'<fork next="A">B</fork>\'',
  'echo talk',
  'x=1',
  'exit',
  'exit 0',
  'exit 1',
  'echo "<goto>A</goto>" >&2',
  'say',
  ':',
];

/** `?` stands for a condition and `@` for a list of commands. */
const SHAPES = [
  'if ?; then @; fi',
  'if ?; then @; else @; fi',
  'if ?; then @; elif ?; then @; fi',
  'if ! ?; then @; else @; fi',
  '? && { @; }',
  '? || { @; }',
  '{ ? && ?; } && { @; } || { @; }',
  '( @ )',
  '{ @; }',
  'if ? && ?; then @; fi',
  'for x in 1 2; do @; done',
  'seq 2 | while read -r x; do @; done',
];

const list: fc.Arbitrary<string> = fc.letrec<{ list: string; command: string }>((tie) => ({
  list: fc.array(tie('command'), { minLength: 1, maxLength: 3 }).map((commands) => commands.join('\n')),
  command: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(...LEAVES),
    fc.tuple(fc.constantFrom(...SHAPES), tie('list'), tie('list')).map(([shape, a, b]) => {
      const lists = [a, b];
      return shape.replaceAll('@', () => `\n${lists.shift() ?? ':'}\n`);
    }),
  ),
})).list;

const made: fc.Arbitrary<Made> = list
  .map((body) => {
    let conditions = 0;
    const script = body
      .replaceAll('?', () => `[ "$b${conditions++}" = 1 ]`)
      .replaceAll('\n;', ';')
      .replace(/;\s*;/g, ';');
    return { script: `say() { echo "<goto>S</goto>"; }\n${script.replaceAll(/\n\s*;/g, '\n')}`, conditions };
  })
  .filter(({ conditions }) => conditions <= MAX_CONDITIONS);

/** What a path has printed, as the interpreter sees it: nothing, one transition, forks, or too much. */
function kindOf(output: string): string {
  const reading = readTags(output, TAG_NAMES);
  const tags = reading.kind === 'tags' ? reading.tags : [];
  const forks = tags.filter(({ name }) => name === 'fork');
  const others = new Set(tags.flatMap(({ name, body }) => (name === 'fork' ? [] : `${name} ${body}`)));
  const paths = new Set(tags.map(({ name, body, attributes }) => (name === 'fork' ? attributes.next : body)));
  if (tags.length === 0) return 'nothing';
  if (others.size > 1 || (forks.length > 0 && (paths.size > 1 || others.has('result x')))) return 'conflict';
  return others.size === 0 ? 'forks' : 'single';
}

/** The kinds of output with which a script ends well, for all bits. */
function played(outputs: Iterable<string>): Set<string> {
  return new Set([...outputs].filter((output) => output.endsWith('well')).map(kindOf));
}

describe('the paths through a script', () => {
  test.skipIf(WINDOWS)('are those that bash can take: none is missed, and no alarm is false (not on Windows)', () => {
    const all = fc.sample(made, { numRuns: 60, seed: 1 });
    const cases = all.flatMap(({ script, conditions }) =>
      Array.from({ length: 2 ** conditions }, (_, bits) => {
        const set = Array.from({ length: conditions }, (_, n) => `b${n}=${(bits >> n) & 1}`);
        const failing = script
          .replaceAll('exit 1', 'exit 7')
          .replace(/\bexit$/gm, '{ [ $? = 0 ] && exit 0 || exit 7; }');
        return [...set, failing].join('\n');
      }),
    );
    // A script that ends with a failed condition has come to its end all the same; only an `exit 1` is meant.
    const play = '( trap \'[ $? = 7 ] || printf well\' EXIT; eval "$case" ) 2>/dev/null';
    const outputs = [...inBash(play, cases)];
    let exact = 0;
    for (const each of all) {
      const came = outputs.splice(0, 2 ** each.conditions);
      const real = played(came);
      if (came.some((output) => !output.endsWith('well') && kindOf(output) !== 'nothing')) real.add('wasted');
      const paths = pathsOf(each.script);
      const told = new Set<string>(paths?.outputs.map(({ kind }) => kind));
      if (paths?.wastedTags.some(({ by }) => by === 'exit') === true) told.add('wasted');
      // Of a loop, one round is looked at.
      const vague = told.has('uncertain') || told.has('unknown') || each.script.includes('; do');
      const missed = vague ? [] : [...real].filter((kind) => kind !== 'wasted' && !told.has(kind));
      // That the loop always has two lines to read is more than one can see.
      const kinds = ['conflict', 'wasted', ...(each.script.includes('seq 2') ? [] : ['nothing'])];
      const falseAlarms = kinds.filter((kind) => told.has(kind) && !real.has(kind));
      expect({ script: each.script, missed, falseAlarms }).toStrictEqual({
        script: each.script,
        missed: [],
        falseAlarms: [],
      });
      if (!vague) exact += 1;
    }
    expect(exact).toBeGreaterThan(all.length / 2);
  });

  test.each([
    ['while true; do if [ -f a ]; then echo "<goto>A</goto>"; exit; fi; sleep 1; done', ['single']],
    ['while true; do if [ -f a ]; then echo "<goto>A</goto>"; break; fi; done', ['single']],
    ['until [ -f a ]; do sleep 1; done; echo "<goto>A</goto>"', ['single']],
    ['for x in a b; do echo "<fork>B</fork>"; done; echo "<goto>A</goto>"', ['single']],
    ['for x in *; do mkdir "$x"; done', ['nothing']],
    ['for x in *; do echo "<goto>A</goto>"; done', ['single', 'uncertain']],
    ['for x in $(ls); do echo "<goto>A</goto>"; done', ['single', 'skipped']],
    ['for x in *; do echo "<goto>$x</goto>"; done', ['conflict', 'uncertain']],
    ['for x in *; do if [ -f "$x" ]; then echo "<goto>$x</goto>"; fi; done', ['single', 'uncertain']],
    ['while read -r x; do echo "<fork next=\'A\'>$x</fork>"; done < list', ['forks', 'skipped']],
    [
      '[ -s list ] || exit 1; while read -r x; do echo "<fork next=\'A\'>$x</fork>"; done < list',
      ['forks', 'uncertain'],
    ],
    ['for x in *; do echo "<fork next=\'A\'>$x</fork>"; done; echo "<result>x</result>"', ['conflict', 'single']],
    [
      'n=0; for x in *; do n=1; echo "<fork next=\'A\'>B</fork>"; done; [ $n = 1 ] || echo "<result>x</result>"',
      ['forks', 'single', 'uncertain'],
    ],
    ['[ -f a ] && { y=1; echo "<goto>A</goto>"; }; [ -n "$y" ] || echo "<goto>B</goto>"', ['single', 'uncertain']],
    ['ls | while read -r x; do echo "<goto>A</goto>"; exit; done; echo "<goto>B</goto>"', ['conflict', 'single']],
    ['echo "<fork next=\'A\'>B</fork>"; echo "<fork next=\'C\'>B</fork>"', ['conflict']],
    ['echo "<fork next=\'A\'>B</fork>"; echo "<fork next=\'A.md\'>B</fork>"', ['forks']],
    ['case $x in a) echo "<goto>A</goto>";; *) exit 1;; esac', ['single']],
    ['case $x in a) echo "<goto>A</goto>";; esac', ['nothing', 'single']],
    ['echo "$answer"', ['unknown']],
    ['echo "found $n"', ['nothing']],
    ['echo "<$tag>A</$tag>"', ['unknown']],
    ['python3 decide.py', ['unknown']],
    ['python3 decide.py > log', ['nothing']],
    ['cat <<E\n<goto>A</goto>\nE', ['single']],
    ['cat <<< "<goto>A</goto>"', ['single']],
    ['printf "%s\\n" "<goto>A</goto>"', ['single']],
    ['printf "<goto>%s</goto>\\n" "$next"', ['single']],
    ['echo "<result>"; cat report; echo "</result>"', ['single']],
    ['f() { echo "<goto>A</goto>"; }; f', ['single']],
    ['f() { [ -f a ] && return; echo "<goto>A</goto>"; }; f', ['nothing', 'single']],
    ['f() { f; }; f', ['unknown']],
    ['echo "<goto>A</goto>" | tee log', ['unknown']],
    ['ls | while read -r x; do echo "<fork>B</fork>"; exit; done; echo "<goto>A</goto>"', ['single']],
    ['trap "rm -f tmp" EXIT; echo "<goto>A</goto>"', ['single']],
    ['{ echo "<goto>A</goto>"; } >&2', ['nothing']],
  ])('have the expected outputs: %s', (script, kinds) => {
    const paths = pathsOf(script);
    expect([...new Set(paths?.outputs.map(({ kind }) => kind))].sort()).toStrictEqual(kinds);
  });

  test('match the example in the comment of the interpreter', () => {
    const script = (second: string) =>
      `if [ -f a ]; then\n  echo "<goto>A</goto>"\nfi\nif [ -s ${second} ]; then\n  echo "<goto>B</goto>"\nfi`;
    const kinds = (text: string) => pathsOf(text)?.outputs.map(({ kind }) => kind);
    const silentSince = pathsOf(script('b'))?.outputs.flatMap((output) =>
      output.kind === 'nothing' ? output.silentSince : [],
    );
    expect(kinds(script('b'))?.sort()).toStrictEqual(['conflict', 'nothing', 'single', 'single']);
    expect(silentSince).toStrictEqual([script('b').lastIndexOf('if [')]);
    expect(kinds(script('a'))?.sort()).toStrictEqual(['single', 'single', 'uncertain']);
  });

  test('are unknown if function calls multiply them', () => {
    const functions = Array.from({ length: 40 }, (_, n) => `f${n}() { f${n + 1}; f${n + 1}; }`);
    expect(pathsOf(`${functions.join('\n')}\nf0`)).toBeUndefined();
  });

  test.each(['exec ./other', 'trap "echo \'<goto>A</goto>\'" EXIT', 'exec > log; echo "<goto>A</goto>"'])(
    'are unknown if the text does not show them: %s',
    (script) => {
      expect(pathsOf(script)).toBeUndefined();
    },
  );
});

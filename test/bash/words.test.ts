import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toSourceOffset } from '../../src/bash/mapped-text.ts';
import { parseScript } from '../../src/bash/parse.ts';
import { listSimpleCommands } from '../../src/bash/walk.ts';
import { UNKNOWN } from '../../src/language/tags/tag-mentions.ts';

import { anyText } from '../core/builders.ts';
import { inBash } from './bash.ts';

const WINDOWS = process.platform === 'win32';
const SAMPLES = { numRuns: 100, seed: 1 };

/** Whatever bash has to work out is made to come to UNKNOWN. */
const SETTING = `x=${UNKNOWN}`;
const PIECES = [
  'a',
  'B1',
  '-x',
  'ü😀',
  '=',
  '/',
  '.',
  ' ',
  '  ',
  '\t',
  '#a',
  ' #',
  "'a b'",
  "'$x'",
  '"a b"',
  '"it\'s"',
  '"\\"q\\""',
  '"\\\\"',
  '"\\a"',
  '"<goto>A</goto>"',
  '\\ ',
  '\\"',
  "\\'",
  '\\$',
  '""',
  "''",
  '"$x"',
  '${x}',
  '"${y:-$x}"',
  '"${y:-"$x"}"',
  '"$(echo "$x")"',
  '$(echo $x)',
  '`echo $x`',
  '"`echo $x`"',
  '"$ 1"',
];

const GRAMMAR = [
  'if',
  'then',
  'elif',
  'else',
  'fi',
  'while',
  'until',
  'for x in a b',
  'do',
  'done',
  'case $x in',
  'a)',
  '(b|c)',
  '*)',
  ';;',
  'esac',
  '{',
  '}',
  '(',
  ')',
  ';',
  '\n',
  '&&',
  '||',
  '|',
  '&',
  'f()',
  'function g',
  '[[ a < b ]]',
  '[[ -n $x && ! -f y ]]',
  '((x < 3))',
  '! true',
  'true',
  'echo a',
  'echo "x y"',
  'x=1',
  'x=(a b)',
  '> out',
  '2>&1',
  '< <(cat)',
  '<<< "a"',
  '<<E\na\nE\n',
  "<<-'E'\n\ta\n\tE\n",
  '# if',
  'exit',
];

const texts = (pieces: readonly string[], between: string): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...pieces), { maxLength: 14 }).map((all) => all.join(between));

const messagesFor = (line: string) => {
  const script = parseScript(line);
  return script && listSimpleCommands(script.commands).flatMap(({ command }) => command.words);
};

describe('words', () => {
  test.skipIf(WINDOWS)('are those that bash sees, quotes removed (not on Windows)', () => {
    const lines = fc.sample(texts(PIECES, ''), SAMPLES).map((words) => `printf '%s\\2' start ${words}`);
    const seen = inBash(`${SETTING}; eval "$case"`, lines).map((out) => out.split('\x02').slice(0, -1));
    const read = lines.map((line) => messagesFor(line)?.map(({ text }) => text));
    expect(read.map((words, i) => [lines[i], words?.slice(2)])).toStrictEqual(
      seen.map((words, i) => [lines[i], words]),
    );
  });

  test('have the offset of each of their characters', () => {
    const script = 'echo "a\\"b"\'c\'$x"d"';
    const [, word] = messagesFor(script) ?? [];
    if (word === undefined) throw new Error('no word');
    expect(word.text).toBe(`a"bc${UNKNOWN}d`);
    const places = [...word.text].map((_, index) => script[toSourceOffset(word, index)]);
    expect(places.join('')).toBe('a"bc$d');
  });
});

describe('a script', () => {
  test('is read without an exception, with any text', () => {
    fc.assert(fc.property(fc.oneof(anyText, texts(GRAMMAR, ' '), texts(PIECES, '')), (text) => void parseScript(text)));
  });

  test.each([
    ['brackets', '$('],
    ['quotes in brackets', '"$('],
    ['groups', '{ '],
    ['conditions', 'if '],
    ['functions', 'f() '],
    ['subshells', '( '],
  ])('is not analyzed if it is nested too deeply in %s', (_, opening) => {
    expect(parseScript(opening.repeat(20_000))).toBeUndefined();
  });

  test.skipIf(WINDOWS)('is understood if bash understands it (not on Windows)', () => {
    const scripts = fc.sample(texts(GRAMMAR, ' '), SAMPLES).filter((script) => script.trim() !== '');
    const sound = inBash('/bin/bash -n -c "$case" 2>/dev/null && printf yes', scripts);
    const missed = scripts.filter((script, index) => sound[index] === 'yes' && parseScript(script) === undefined);
    expect(missed).toStrictEqual([]);
    expect(sound.filter((answer) => answer === 'yes').length).toBeGreaterThan(0);
  });
});

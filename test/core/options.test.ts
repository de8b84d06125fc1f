import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  BACKEND,
  BOOLEAN,
  COUNT,
  choice,
  DOLLARS,
  DURATION,
  explainMismatch,
  isReplay,
  knownWord,
  LIMIT,
  NUMBER_LIMIT,
  OPTIONAL_TEXT,
  type OptionType,
  optionalKnownWord,
  optionalWord,
  parseBackend,
  TEXTS,
  VARIABLES,
} from '../../src/core/options/option-types.ts';
import { DEFAULT_OPTIONS, flagOf, mergeOptions, OPTION_TABLE, overlayOptions } from '../../src/core/options/options.ts';
import type { ValueProblem } from '../../src/language/claude-values.ts';

const MODE = choice('keep', 'clear');
const findProblem = (word: string): ValueProblem => ({
  message: `${word} is unknown`,
  hint: 'Write y.',
  isCertain: true,
});
const WORD = knownWord(['plan', 'dontAsk'], findProblem);
const LEVEL = optionalKnownWord(['low', 'high'], findProblem);
const UPPER = optionalWord((text) => text.toUpperCase(), findProblem);

describe('a value as it is written', () => {
  test.each<[string, OptionType<unknown>, unknown, unknown, unknown]>([
    ['dollars', DOLLARS, 2.5, 2_500_000, 2.5],
    ['dollars', DOLLARS, 0, null, 0],
    ['dollars', DOLLARS, 1e-9, 1, 0.000001],
    ['seconds', DURATION, 1.5, 1500, 1.5],
    ['seconds', DURATION, 0, 0, 0],
    ['seconds', DURATION, 1e-9, 1, 0.001],
    ['a limit', LIMIT, 8, 8, 8],
    ['a limit', LIMIT, 0, null, 0],
    ['a count', COUNT, 0, 0, 0],
    ['a switch', BOOLEAN, false, false, false],
    ['a known word', WORD, 'dontAsk', 'dontAsk', 'dontAsk'],
    ['a known word in any letter case', LEVEL, 'High', 'high', 'high'],
    ['a text with a spelling', UPPER, 'opus', 'OPUS', 'OPUS'],
    ['a text without a spelling', OPTIONAL_TEXT, 'Opus', 'Opus', 'Opus'],
    ['a list', TEXTS, ['a', 'b'], ['a', 'b'], ['a', 'b']],
    ['a choice', MODE, 'clear', 'clear', 'clear'],
    ['a backend', BACKEND, 'claude', 'claude', 'claude'],
    ['a backend', BACKEND, 'replay:a.yaml', 'replay:a.yaml', 'replay:a.yaml'],
  ])('of %s is kept in a run, and can be written again', (_, type, written, kept, again) => {
    expect(type.parse(written)).toStrictEqual(kept);
    expect(type.format(kept)).toStrictEqual(again);
  });

  test.each<[string, OptionType<unknown>, readonly unknown[]]>([
    ['a number', DOLLARS, [-1, NUMBER_LIMIT, Number.NaN, Number.POSITIVE_INFINITY, '1', null]],
    ['a whole number', COUNT, [1.5, -1, NUMBER_LIMIT, true]],
    ['true or false', BOOLEAN, ['true', 1, null]],
    ['a text', OPTIONAL_TEXT, ['', ' ', 1, null, ['a']]],
    ['a known word', WORD, ['Plan', 'x', '']],
    ['a known word in any letter case', LEVEL, ['x', ' ', 'lows']],
    ['a list of texts', TEXTS, ['a', [''], ['a', 1], { 0: 'a' }]],
    ['one of the words', MODE, ['Keep', '', null]],
    ['a backend', BACKEND, ['gemini', 'replay:', 'claude ']],
    ['a value for all variables', VARIABLES, ['a', {}]],
  ])('that is not %s is refused', (_, type, refused) => {
    expect(refused.filter((written) => type.parse(written) !== undefined)).toStrictEqual([]);
  });

  test('variables have no single value to be written', () => {
    expect(VARIABLES.format({ a: 'b' })).toBeNull();
  });

  test('nothing that was chosen is written as nothing, and no limit as 0', () => {
    expect([DURATION, UPPER, DOLLARS, LIMIT].map((type) => type.format(null))).toStrictEqual([null, null, 0, 0]);
  });

  test('whatever number fits comes back within half a unit of what is kept', () => {
    const amount = fc.double({ min: 0.000001, max: NUMBER_LIMIT, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(amount, (written) => {
        const dollars = DOLLARS.parse(written);
        const ms = DURATION.parse(written);
        expect([Number.isSafeInteger(dollars), Number.isSafeInteger(ms)]).toStrictEqual([true, true]);
        expect(Math.abs(Number(DOLLARS.format(dollars ?? null)) - written)).toBeLessThan(0.000001);
        expect(Math.abs(Number(DURATION.format(ms ?? null)) - written)).toBeLessThan(0.001);
      }),
    );
  });
});

test('an error names the limit of a number that is too large, what is wrong with a word, else what would fit', () => {
  const explain = (type: OptionType<unknown>, written: unknown): unknown =>
    explainMismatch(type, { name: '--n', written, quoted: `<${written}>` });
  expect([explain(COUNT, NUMBER_LIMIT), explain(COUNT, -1), explain(UPPER, ' '), explain(UPPER, 'xz')]).toStrictEqual([
    { message: '--n must be less than 1000000000, not <1000000000>' },
    { message: '--n must be a whole number of at least 0, not <-1>' },
    { message: '--n must be a text, not < >' },
    { message: '--n: xz is unknown', hint: 'Write y.' },
  ]);
  expect(MODE.expected).toBe('"keep" or "clear"');
});

test('a backend is Claude Code or a file of canned answers, whose path is made absolute', () => {
  expect(['claude', 'replay:a\nb.yaml', 'replay', 'x:claude'].map(parseBackend)).toStrictEqual([
    { kind: 'claude' },
    { kind: 'replay', file: 'a\nb.yaml' },
    undefined,
    undefined,
  ]);
  expect(BACKEND.parse('replay:a.yaml', (path) => `/x/${path}`)).toBe('replay:/x/a.yaml');
});

test('a run is a replay if its prompts are answered from a file', () => {
  expect(['claude', 'replay:a.yaml'].map((agent) => isReplay({ agent }))).toStrictEqual([false, true]);
});

test('a flag is the key with dashes', () => {
  expect(flagOf({ key: 'max_iterations' })).toBe('--max-iterations');
});

describe('options that change', () => {
  test('variables are changed one by one', () => {
    const options = mergeOptions(DEFAULT_OPTIONS, { variables: { a: '1', b: '2' } });
    expect(mergeOptions(options, { variables: { b: '3' } }).variables).toStrictEqual({ a: '1', b: '3' });
    expect(mergeOptions(options, { retries: 9 })).toStrictEqual({ ...options, retries: 9 });
  });

  test('a limit of nothing is no limit, a timeout of nothing stays', () => {
    const zero = { budgetMicros: 0, maxIterations: 0, parallel: 0, timeoutMs: 0, retries: 0 };
    expect(mergeOptions(DEFAULT_OPTIONS, zero)).toMatchObject({
      budgetMicros: null,
      maxIterations: null,
      parallel: null,
      timeoutMs: 0,
      retries: 0,
    });
  });

  test('what a nearer source says goes over what a farther one says', () => {
    const far = { retries: 1, wait: false, variables: { a: '1', b: '2' } };
    expect(overlayOptions(far, { retries: 2, variables: { b: '3' } })).toStrictEqual({
      retries: 2,
      wait: false,
      variables: { a: '1', b: '3' },
    });
    expect(overlayOptions({}, {})).toStrictEqual({});
  });

  test.each([
    ['is taken back by a permission mode', { permissionMode: 'plan' }, false],
    ['stays beside a permission mode if both are named', { permissionMode: 'plan', skipPermissions: true }, true],
    ['stays if no mode is named', { retries: 1 }, true],
  ])('the permission for everything %s', (_, nearer, expected) => {
    expect(overlayOptions({ skipPermissions: true }, nearer).skipPermissions).toBe(expected);
  });
});

test('a value needs trust exactly if it runs a program or permits more than the default', () => {
  const { permissionMode, skipPermissions, allowCd, claude } = OPTION_TABLE;
  expect(['plan', 'acceptEdits', 'bypassPermissions', 'auto'].map(needsTrust(permissionMode))).toStrictEqual([
    false,
    false,
    true,
    true,
  ]);
  expect([false, true].map(needsTrust(skipPermissions))).toStrictEqual([false, true]);
  expect([[], ['/']].map(needsTrust(allowCd))).toStrictEqual([false, true]);
  expect([null, './claude'].map(needsTrust(claude))).toStrictEqual([false, true]);
});

const needsTrust =
  <Kept>({ trust }: { readonly trust?: { isNeededFor(kept: Kept): boolean } }) =>
  (kept: Kept): boolean | undefined =>
    trust?.isNeededFor(kept);

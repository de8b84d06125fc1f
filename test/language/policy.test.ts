import { describe, expect, test } from 'vitest';
import { hasOpenState, implicitTag, isSameState, namedStates, permits } from '../../src/language/policy.ts';
import { entryOf, payloadEntry, SCOPE, scopeOf, tagOf } from '../core/builders.ts';

describe('a policy', () => {
  test.each([
    ['no entry, which permits all', [], tagOf('fork', 'W.md', { next: 'N' })],
    ['the same tag and target', [entryOf('goto', 'A.md')], tagOf('goto', 'A.md')],
    ['a target without its extension', [entryOf('goto', 'A')], tagOf('goto', 'A.md')],
    ['a target with its extension', [entryOf('goto', 'A.md')], tagOf('goto', 'A')],
    ['a script without its extension', [entryOf('goto', 'RUN')], tagOf('goto', 'RUN.sh')],
    ['any target, if it was left out', [entryOf('goto')], tagOf('goto', 'B.md')],
    ['any payload', [entryOf('result')], tagOf('result', 'whatever / it is')],
    ['any return, if it was left out', [entryOf('call', 'A.md')], tagOf('call', 'A.md', { return: 'R.md' })],
    ['the same return', [entryOf('call', 'A', { return: 'R.md' })], tagOf('call', 'A.md', { return: ' R ' })],
    ['the same next', [entryOf('fork', 'W', { next: 'N' })], tagOf('fork', 'W.md', { next: 'N.md' })],
    [
      'another value of a variable',
      [entryOf('fork', 'W', { item: 'x' })],
      tagOf('fork', 'W', { next: 'N', item: 'y' }),
    ],
    ['a variable that is missing', [entryOf('fork', 'W', { constructor: 'x' })], tagOf('fork', 'W', { next: 'N' })],
    ['another input', [entryOf('goto', 'A', { input: '{{input}}' })], tagOf('goto', 'A', { input: 'x' })],
    ['no input', [entryOf('goto', 'A', { input: '{{input}}' })], tagOf('goto', 'A')],
    ['the payload', [payloadEntry('YES'), payloadEntry('NO')], tagOf('result', 'NO')],
    ['attributes that were left out', [entryOf('fork', 'W')], tagOf('fork', 'W', { next: 'N', item: 'x', cd: 'sub' })],
    ['an input that was left out', [entryOf('goto', 'A')], tagOf('goto', 'A', { input: 'x' })],
    ['a model in another case', [entryOf('call', 'A', { model: 'Opus' })], tagOf('call', 'A', { model: 'OPUS' })],
    ['an effort in another case', [entryOf('call', 'A', { effort: 'low' })], tagOf('call', 'A', { effort: 'LOW' })],
    ['one of several entries', [entryOf('result'), entryOf('goto', 'A')], tagOf('goto', 'A.md')],
  ])('permits %s', (_, policy, tag) => {
    expect(permits(policy, tag, SCOPE)).toBe(true);
  });

  test.each([
    ['another tag', [entryOf('goto', 'A')], tagOf('reset', 'A')],
    ['another target', [entryOf('goto', 'A')], tagOf('goto', 'B')],
    ['a target in another case', [entryOf('goto', 'A')], tagOf('goto', 'a')],
    ['another return', [entryOf('call', 'A', { return: 'R' })], tagOf('call', 'A', { return: 'B' })],
    ['a return that is missing', [entryOf('call', 'A', { return: 'R' })], tagOf('call', 'A')],
    ['another next', [entryOf('fork', 'W', { next: 'N' })], tagOf('fork', 'W', { next: 'B' })],
    ['another stack', [entryOf('reset', 'A', { stack: 'keep' })], tagOf('reset', 'A', { stack: 'clear' })],
    ['another payload', [payloadEntry('YES')], tagOf('result', 'Yes')],
    ['another payload than those of a gate', [payloadEntry('YES'), payloadEntry('NO')], tagOf('result', 'MAYBE')],
    ['another folder', [entryOf('reset', 'A', { cd: 'sub' })], tagOf('reset', 'A', { cd: 'gone' })],
    ['another full model id', [entryOf('call', 'A', { model: 'claude-x' })], tagOf('call', 'A', { model: 'Claude-X' })],
    [
      'halves of two entries',
      [entryOf('call', 'A', { return: 'R' }), entryOf('call', 'B', { return: 'N' })],
      tagOf('call', 'A', { return: 'N' }),
    ],
  ])('does not permit %s', (_, policy, tag) => {
    expect(permits(policy, tag, SCOPE)).toBe(false);
  });
});

test.each([
  ['A', 'A.md', true],
  ['A.md', 'A', true],
  [' A ', 'A.md', true],
  ['RUN', 'RUN.sh', true],
  ['A', 'B', false],
  ['X', 'X', false],
  ['', '', false],
])('%j and %j mean the same state: %s', (a, b, same) => {
  expect(isSameState(a, b, SCOPE)).toBe(same);
});

test('an ambiguous name is no state, but its files are', () => {
  const both = scopeOf(['A.md', 'A.sh']);
  expect([
    isSameState('A', 'A.md', both),
    isSameState('A.md', 'A.md', both),
    isSameState('A.md', 'A.sh', both),
  ]).toStrictEqual([false, true, false]);
});

describe('an implicit transition', () => {
  test.each([
    ['a goto', entryOf('goto', 'A.md')],
    ['a reset with all it says', entryOf('reset', 'A', { cd: 'sub', stack: 'clear' })],
    ['a call with its return', entryOf('call', 'A', { return: 'R' })],
    ['a function with its return', entryOf('function', 'A', { return: 'R', model: 'opus' })],
    ['a fork with its next', entryOf('fork', 'W', { next: 'N', item: 'x' })],
  ])('is the only entry if it is complete: %s', (_, entry) => {
    expect(implicitTag([entry])).toStrictEqual(tagOf(entry.tag, entry.target ?? '', entry.attributes, 0));
  });

  test('is a result if its payload is known', () => {
    expect(implicitTag([payloadEntry('YES')])).toStrictEqual(tagOf('result', 'YES', {}, 0));
  });

  test.each([
    ['there is no policy', []],
    ['there are two', [entryOf('goto', 'A'), entryOf('goto', 'B')]],
    ['the same stands there twice', [entryOf('goto', 'A'), entryOf('goto', 'A')]],
    ['it is a result', [entryOf('result')]],
    ['it is a gate', [payloadEntry('YES'), payloadEntry('NO')]],
    ['its target is open', [entryOf('goto')]],
    ['the return of a call is open', [entryOf('call', 'A')]],
    ['the return of a function is open', [entryOf('function', 'A')]],
    ['the next of a fork is open', [entryOf('fork', 'W', { item: 'x' })]],
    ['its folder is a pattern, which permits many', [entryOf('reset', 'A', { cd: '../tree-*' })]],
  ])('is not taken if %s', (_, policy) => {
    expect(implicitTag(policy)).toBeUndefined();
  });
});

test.each([
  ['a goto to a state', entryOf('goto', 'A'), false],
  ['a goto to any', entryOf('goto'), true],
  ['a result', entryOf('result'), false],
  ['a call without its return', entryOf('call', 'A'), true],
  ['a call with its return', entryOf('call', 'A', { return: 'R' }), false],
])('%s leaves a state open or not', (_, entry, open) => {
  expect(hasOpenState(entry)).toBe(open);
});

test('an entry names its target and its next state', () => {
  expect(namedStates(entryOf('call', 'A', { return: 'R', model: 'opus' }))).toStrictEqual([
    ['target', 'A'],
    ['return', 'R'],
  ]);
  expect(namedStates(entryOf('fork', null, { next: 'N', item: 'x' }))).toStrictEqual([['next', 'N']]);
  expect(namedStates(entryOf('result'))).toStrictEqual([]);
});

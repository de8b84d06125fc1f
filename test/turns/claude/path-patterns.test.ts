import fc from 'fast-check';
import { expect, test } from 'vitest';
import { patternOf, patternsOfAllExcept } from '../../../src/turns/claude/path-patterns.ts';

/** What Claude Code makes of a pattern, as far as these patterns go: a folder stands for everything in it. */
const toRegExp = (pattern: string): RegExp =>
  new RegExp(`^${pattern.replace(/[.]/g, '\\$&').replace(/\?/g, '[^/]').replace(/\*/g, '[^/]*')}(?:/.*)?$`, 'i');

const isDenied = (patterns: readonly string[], path: string): boolean =>
  patterns.some((each) => toRegExp(each).test(path));

const NAME = fc.stringMatching(/^[a-z0-9_]{1,6}$/);

test('everything in a folder is matched except some paths and what is in them', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(NAME, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
      fc.array(NAME, { minLength: 1, maxLength: 4 }),
      (excepted, tried) => {
        const patterns = patternsOfAllExcept(
          '/p',
          excepted.map((names) => `/p/${names.join('/')}`),
        );
        const leadsTo = (names: readonly string[], path: readonly string[]): boolean =>
          names.every((name, at) => path[at] === undefined || path[at] === name);
        // A folder above an excepted one must stay open, and everything below an excepted one.
        expect(isDenied(patterns, `/p/${tried.join('/')}`)).toBe(!excepted.some((names) => leadsTo(names, tried)));
      },
    ),
  );
});

test('nothing is matched if the folder itself is excepted', () => {
  expect(patternsOfAllExcept('/p', ['/p', '/p/tasks'])).toStrictEqual([]);
});

test('characters with a meaning in rules match any one', () => {
  expect(patternOf("/a (b), [c]*{d} 'é' !#日本")).toBe('/a??b????c???d???é????日本');
});

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/** Phrases that no native speaker would write, and what to write instead. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/\bgoes on (?:in|with|at)\b/i, 'continues'],
  [/\btaken up\b/i, 'resumed, processed, driven'],
  [/\ball the same\b/i, 'still, anyway'],
  [/\bmend(?:s|ed|ing)?\b/i, 'fix'],
  [/\bl(?:ies|ie) beside\b/i, 'is next to'],
  [/\bfor ever\b/i, 'forever'],
  [/\bwhoever\b/i, 'name the actor'],
];

/** A comment that opens with a question word instead of its subject. */
const QUESTION_OPENING = /^\s*(?:\/\*\*|\/\/|\*)\s*(?:What|Whether|Who)\b/;

const SOURCES = [...listFiles('src', /\.ts$/), ...listFiles('web/app', /\.tsx?$/)];
const PAGES = [...listFiles('docs', /\.md$/), 'README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md'];

describe('plain English', () => {
  test.each(PHRASES)('%s is written nowhere: %s', (phrase) => {
    expect([...SOURCES, ...PAGES].flatMap((file) => findLines(file, phrase))).toStrictEqual([]);
  });

  test('no comment opens with What, Whether or Who', () => {
    expect(SOURCES.flatMap((file) => findLines(file, QUESTION_OPENING))).toStrictEqual([]);
  });

  test('every line is searched', () => {
    expect(SOURCES.length).toBeGreaterThan(500);
    expect(findLines('test/wording.test.ts', /^import \{ join/)).toStrictEqual([
      "test/wording.test.ts:2 import { join, relative } from 'node:path';",
    ]);
  });
});

function listFiles(folder: string, name: RegExp): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && name.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
}

function findLines(file: string, pattern: RegExp): readonly string[] {
  const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
  return lines.flatMap((line, at) => (pattern.test(line) ? [`${file}:${at + 1} ${line.trim()}`] : []));
}

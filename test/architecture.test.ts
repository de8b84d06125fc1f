import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findDuplicateExports, findMissingComments } from './architecture/exports.ts';
import { findViolations, parseAll } from './architecture/imports.ts';
import type { SourceFile } from './architecture/module.ts';
import { findUnlistedOptions } from './architecture/options.ts';
import { comparePureTable, compareRoomTable, ROOMS, roomOf } from './architecture/rooms.ts';

const ROOT = join(import.meta.dirname, '..');

describe('our own source', () => {
  const files = readTree(join(ROOT, 'src'));
  const modules = parseAll(files);

  test('keeps its rooms apart, has no import cycle and no file over 400 lines', () => {
    expect(files.map(({ path }) => path)).toContain('src/errors.ts');
    expect(findViolations(files)).toStrictEqual([]);
  });

  test('gives every exported name one meaning', () => {
    expect(findDuplicateExports(modules)).toStrictEqual([]);
  });

  test('has a comment above every export', () => {
    expect(findMissingComments(modules)).toStrictEqual([]);
  });

  test('is what ARCHITECTURE.md says: rooms, their imports, and the files of language and core', () => {
    const architecture = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
    const paths = files.map(({ path }) => path);
    expect([...ROOMS.keys()].toSorted()).toStrictEqual([...new Set(paths.map(roomOf))].toSorted());
    expect(compareRoomTable(ROOMS, architecture)).toStrictEqual([]);
    expect(comparePureTable(paths, architecture)).toStrictEqual([]);
  });

  test('has every option in one table', () => {
    expect(findUnlistedOptions(files.filter(({ path }) => path.endsWith('.ts')))).toStrictEqual([]);
  });

  test('has a reason for every package in docs/decisions.md', () => {
    const decisions = readFileSync(join(ROOT, 'docs', 'decisions.md'), 'utf8');
    const packages = new Set([...ROOMS.values()].flatMap((room) => room.packages));
    expect([...packages].filter((name) => !decisions.includes(`\n| \`${name}\` | `))).toStrictEqual([]);
  });

  test('shows where it grows', () => {
    const functions = modules.flatMap(({ path, functions }) =>
      functions.map(({ name, line, lines }) => ({ lines, label: `${name} (${path}:${line})` })),
    );
    console.log(`longest files\n${tenLongest(modules.map(({ path, lines }) => ({ lines, label: path })))}`);
    console.log(`longest functions\n${tenLongest(functions)}`);
    expect(functions.length).toBeGreaterThan(0);
  });
});

describe('a forbidden import is found', () => {
  test.each([
    ['when core reads a file', "import { readFileSync } from 'node:fs';", 'imports node:fs; core may not use it'],
    ['when core takes a package', "import { z } from 'zod/v4';", 'imports zod/v4; core may not use it'],
    [
      'when core imports a package for its types only',
      "import type { z } from 'zod';",
      'imports zod; core may not use it',
    ],
    ['when core imports for effect', "import 'node:fs';", 'imports node:fs; core may not use it'],
    ['when core imports late', "await import('node:fs');", 'imports node:fs; core may not use it'],
    ['when core hides a path in a template', 'await import(`zod`);', 'imports zod; core may not use it'],
    ['when core borrows a type in place', "type Z = import('zod').Z;", 'imports zod; core may not use it'],
    ['when core re-exports from a package', "export { z } from 'zod';", 'imports zod; core may not use it'],
    ['when core imports its errors', "import '../errors.ts';", 'imports src/errors.ts; core may not use errors.ts'],
    [
      'when a path is computed',
      'await import("./a" + ".ts");',
      'imports a path made at run time, which cannot be checked',
    ],
    ['when an import leaves src', "import '../../x.ts';", 'imports ../../x.ts, which is no module of src'],
  ])('%s', (_, text, violation) => {
    expect(violationsIn({ 'src/core/a.ts': text, 'src/errors.ts': '' })).toStrictEqual([
      `src/core/a.ts:1 ${violation}`,
    ]);
  });

  test('when one room of the outer layer reaches into another', () => {
    expect(
      violationsIn({ 'src/turns/script-turn.ts': "\nimport type { A } from '../disk/a.ts';", 'src/disk/a.ts': '' }),
    ).toStrictEqual(['src/turns/script-turn.ts:2 imports src/disk/a.ts; turns may not use disk']);
  });

  test('when the engine or the graph does I/O', () => {
    const text = "import 'node:path';";
    expect(violationsIn({ 'src/engine/a.ts': text, 'src/graph/a.ts': text })).toStrictEqual([
      'src/engine/a.ts:1 imports node:path; engine may not use it',
      'src/graph/a.ts:1 imports node:path; graph may not use it',
    ]);
  });

  test('when the command line bypasses the app', () => {
    expect(
      violationsIn({ 'src/cli/main.ts': "import '../engine/drive.ts';", 'src/engine/drive.ts': '' }),
    ).toStrictEqual(['src/cli/main.ts:1 imports src/engine/drive.ts; cli may not use engine']);
  });

  test('when a package is used in a room that it was not meant for', () => {
    expect(violationsIn({ 'src/disk/a.ts': "import 'yaml';", 'src/yaml/a.ts': "import 'yaml';" })).toStrictEqual([
      'src/disk/a.ts:1 imports yaml; disk may not use it',
    ]);
  });

  test('when a file of any kind belongs to no room', () => {
    expect(violationsIn({ 'src/utils/a.ts': '', 'src/helper.ts': '', 'src/data/a.json': '{}' })).toStrictEqual([
      'src/utils/a.ts belongs to no room: utils is not in the table',
      'src/helper.ts belongs to no room: helper.ts is not in the table',
      'src/data/a.json belongs to no room: data is not in the table',
    ]);
  });

  test('when a file passes 400 lines, not when it has them', () => {
    const lines = 'export {};\n'.repeat(400);
    expect(violationsIn({ 'src/cli/a.ts': lines, 'src/cli/b.ts': `${lines}export {};\n` })).toStrictEqual([
      'src/cli/b.ts has 401 lines, more than 400: split it by idea',
    ]);
  });

  test('when a file cannot be parsed, because then nothing in it is checked', () => {
    expect(violationsIn({ 'src/core/a.ts': 'import {' })[0]).toMatch(/^src\/core\/a\.ts cannot be parsed: /);
  });
});

describe('an import cycle is found', () => {
  test.each([
    ['of plain imports', "import './b.ts';", "import './c.ts';", "import './a.ts';"],
    ['through re-exports', "export * from './b.ts';", "export { c } from './c.ts';", "export * as a from './a.ts';"],
    [
      'through types',
      "import type { B } from './b.ts';",
      "import { type C } from './c.ts';",
      "export type * from './a.ts';",
    ],
    ['through late imports', "await import('./b.ts');", "import './c.js';", "type A = typeof import('./a.ts');"],
  ])('%s, and shown', (_, a, b, c) => {
    const cycle = 'src/core/a.ts → src/core/b.ts → src/core/c.ts → src/core/a.ts';
    expect(violationsIn({ 'src/core/a.ts': a, 'src/core/b.ts': b, 'src/core/c.ts': c })).toStrictEqual([
      `import cycle: ${cycle}`,
    ]);
  });

  test('from a file to itself, and behind a file that is not part of it', () => {
    const tree = { 'src/core/z.ts': "import './y.ts';", 'src/core/y.ts': "import './y.ts';" };
    expect(violationsIn(tree)).toStrictEqual(['import cycle: src/core/y.ts → src/core/y.ts']);
  });

  test('only if it is one: two paths to the same file are allowed', () => {
    const tree = { a: "import './b.ts'; import './c.ts';", b: "import './d.ts';", c: "import './d.ts';", d: '' };
    const files = Object.entries(tree).map(([name, text]) => [`src/core/${name}.ts`, text]);
    expect(violationsIn(Object.fromEntries(files))).toStrictEqual([]);
  });
});

describe('core has no clock, no randomness and no I/O', () => {
  test.each([
    ['Date.now()', 'Date.now'],
    ['Date["now"]()', 'Date.now'],
    ['Date()', 'Date.now'],
    ['new Date()', 'new Date()'],
    ['new Date', 'new Date()'],
    ['[1].map(Date.now)', 'Date.now'],
    ['Math.random()', 'Math.random'],
    ['(({ random }) => random())(Math)', 'Math.random'],
    ['performance.now()', 'performance'],
    ['process.env.HOME', 'process'],
    ['({ process })', 'process'],
    ['console.log(1)', 'console'],
    ['setTimeout(() => {}, 1)', 'setTimeout'],
    ['fetch("x")', 'fetch'],
    ['crypto.randomUUID()', 'crypto'],
    ['globalThis["Date"]', 'globalThis'],
    ['import.meta.url', 'import.meta'],
  ])('%s is found', (expression, found) => {
    const text = `// é 😀\nexport const a = ${expression};`;
    expect(violationsIn({ 'src/core/a.ts': text })).toStrictEqual([`src/core/a.ts:2 uses ${found}; core is pure`]);
    expect(violationsIn({ 'src/render/a.ts': text })).toStrictEqual([]);
  });

  test.each([
    'new Date(0).toISOString()',
    'Date.parse("2026-01-01")',
    'Date.UTC(2026, 0)',
    'Math.max(1, 2)',
    '{ process: 1, fetch() {} }.process',
    '"Date.now()" // Math.random()',
  ])('%s is fine', (expression) => {
    expect(
      violationsIn({ 'src/core/a.ts': `type T = { console: Date };\nexport const a = ${expression}` }),
    ).toStrictEqual([]);
  });
});

describe('an exported name with two meanings is found', () => {
  test.each([
    ['as two types', 'export type A = 1;', 'export interface A {}'],
    ['as a function and a constant', 'export function A() {}', 'export const A = 1;'],
    ['in a destructuring', 'export const { b: [A] } = x;', 'export class A {}'],
    ['as the alias of something else', 'export type A = 1;', "export { b as A } from './c.ts';"],
    ['when declared first and exported later', 'const A = 1;\nexport { A };', 'export enum A {}'],
  ])('%s', (_, first, second) => {
    expect(duplicatesIn({ 'src/core/a.ts': first, 'src/cli/b.ts': second })).toStrictEqual([
      expect.stringMatching(/^A is declared in src\/core\/a\.ts:1 and src\/cli\/b\.ts:1$/),
    ]);
  });

  test.each([
    ['a re-export', "export { A } from '../core/a.ts';"],
    ['a re-export of everything', "export * from '../core/a.ts';"],
    ['an imported name that is passed on', "import { A } from '../core/a.ts';\nexport { A };"],
    ['a name that stays in its file', 'const A = 1;'],
  ])('only if there are two: %s is allowed', (_, text) => {
    const declaration = 'export function A(a: 1): 1;\nexport function A(a: 2): 2;\nexport type A = 1;';
    expect(duplicatesIn({ 'src/core/a.ts': declaration, 'src/cli/b.ts': text })).toStrictEqual([]);
  });
});

describe('a missing comment above an export is found', () => {
  test.each([
    ['above a type', 'export type A = 1;'],
    ['above a function', 'export async function A() {}'],
    ['above a class', 'export abstract class A {}'],
    ['above a constant', 'export const A = 1;'],
    ['above a declaration that is exported further down', 'const A = 1;\n\n/** No use here. */\nexport { A };'],
    ['when an empty line parts them', '/** The file. */\n\nexport type A = 1;'],
    ['when the comment belongs to the line before', 'const b = 1; // Why\nexport type A = 1;'],
    ['when the comment is for a tool', '// biome-ignore lint: because\nexport type A = 1;'],
  ])('%s', (_, text) => {
    expect(missingCommentsIn(text)).toStrictEqual([
      expect.stringMatching(/^src\/core\/a\.ts:\d exports A without a comment above it$/),
    ]);
  });

  test.each([
    '/** Explains A. */\nexport type A = 1;',
    '// Explains A.\nexport type A = 1;',
    '/** Explains A. */\n// biome-ignore lint: because\nexport type A = 1;',
    '/** Explains A. */\nconst A = 1;\nexport { A };',
    '/** Explains A. */\nexport function A(a: 1): 1;\nexport function A(a: 2): 2;',
    "export { A } from './b.ts';\nexport * from './c.ts';",
    'type A = 1;',
  ])('only if it is missing: %j is allowed', (text) => {
    expect(missingCommentsIn(text)).toStrictEqual([]);
  });
});

describe('a difference between ARCHITECTURE.md and the sources is found', () => {
  test('in the table of rooms, in both directions', () => {
    const rooms = new Map([
      ['core', { rooms: [], packages: [], node: false }],
      ['store', { rooms: ['core', 'errors.ts'], packages: ['zod'], node: true }],
      ['cli', { rooms: [], packages: [], node: false }],
    ]);
    const row = (imports: string) =>
      `| room | holds | may import |\n|---|---|---|\n| \`core\` | \`yaml\` | nothing |\n${imports}\n\n`;
    const table = row('| `store` | disk | `node:*`, `core`, `errors`, `zod` |\n| `cli` | users | nothing |');
    expect(compareRoomTable(rooms, table)).toStrictEqual([]);
    expect(compareRoomTable(rooms, row('| `store` | disk | `core`, `yaml` |\n| `server` | | `core` |'))).toStrictEqual([
      'cli has no row',
      'store may import errors: not said',
      'store may import zod: not said',
      'store may import node:*: not said',
      'store may not import yaml: said',
      'server is no room',
    ]);
    expect(compareRoomTable(rooms, '')).toHaveLength(3);
  });

  test('in the table of the pure rooms, in which a folder counts as one file', () => {
    const paths = [
      'src/language/a.ts',
      'src/core/b.ts',
      'src/core/signals/c.ts',
      'src/core/signals/d.ts',
      'src/cli/e.ts',
    ];
    const table =
      '| file | one idea |\n|---|---|\n| `language/a.ts`, `core/signals/` | `x.ts` |\n| `core/gone.ts` | |\n';
    expect(comparePureTable(paths, table)).toStrictEqual(['core/b.ts is not listed', 'core/gone.ts does not exist']);
  });
});

describe('an option that is not in the table of options is found', () => {
  const table = `const OPTION_TABLE = {
    budgetMicros: option({ key: 'budget', argument: '<usd>' }),
    maxIterations: { key: 'max_iterations' },
    parallel: option({ key: 'parallel' }),
    debug: option({ key: 'debug' }),
  } as const satisfies Rows;`;

  test.each([
    ['as a flag of its own', "const RUN = { name: 'run', flags: [...OPTION_FLAGS, ['--speed <n>', 'be quick']] };"],
    [
      'as a flag behind a constant',
      "const RUN = { name: 'run', flags: [...MORE] };\nconst MORE: Flag[] = [...JSON, SPEED];\nconst SPEED = ['--speed <n>'];",
    ],
  ])('%s', (_, text) => {
    expect(unlistedOptionsIn({ 'src/core/options/options.ts': table, 'src/cli/a.ts': text })).toStrictEqual([
      'src/cli/a.ts:1 gives `run` the flag --speed, which is not from the table of options',
    ]);
  });

  test.each([
    'interface Fast extends Options { speed: number }',
    'interface Fast extends Partial<Options> { speed: number }',
    'type Fast = Partial<Options> & { speed: number };',
  ])('as a member: %s', (text) => {
    expect(unlistedOptionsIn({ 'src/core/options/options.ts': table, 'src/disk/a.ts': text })).toStrictEqual([
      'src/disk/a.ts:1 adds members to `Options`: put them into the table of options',
    ]);
  });

  test.each([
    ['the config file', '{ budget: 1, max_iterations: 2, parallel: 3, debug: 4, speed: 5 }'],
    ['the state file', "{ budgetMicros: 1, maxIterations: 2, 'parallel': 3, debug: 4, speed: 5 }"],
  ])('in a second list, such as for %s', (_, list) => {
    const found = unlistedOptionsIn({
      'src/core/options/options.ts': table,
      'src/config/a.ts': `const keys = ${list};`,
    });
    expect(found).toStrictEqual([
      expect.stringMatching(/^src\/config\/a\.ts:1 lists the options budget.*, parallel, debug again: derive the list/),
    ]);
  });

  test('when there is no table', () => {
    expect(unlistedOptionsIn({ 'src/core/a.ts': table })).toStrictEqual([
      'src/core/options/options.ts has no OPTION_TABLE',
    ]);
  });

  test.each([
    "const RUN = { name: 'run', flags: [['--input <text>', 'the first input'], ...OPTIONS.flatMap(flagsOf)] };",
    "const LINT = { name: 'lint', flags: [['--level <level>', 'what to show']] };",
    'type Request = { options: Partial<Options>; input: string };',
    'const call = { budget: 1, parallel: 2, cwd: 3 };',
  ])('only if it is an option of a run: %s is allowed', (text) => {
    expect(unlistedOptionsIn({ 'src/core/options/options.ts': table, 'src/cli/a.ts': text })).toStrictEqual([]);
  });
});

test('functions are measured under the name they are called by', () => {
  const text =
    'function a() {\n}\nexport const b = () => 1;\nconst c = {\n  d() {\n\n  },\n};\nclass E {\n  f() {}\n}\n';
  const [module] = parseAll([{ path: 'src/core/a.ts', text }]);
  expect(module?.functions).toStrictEqual([
    { name: 'a', line: 1, lines: 2 },
    { name: 'b', line: 3, lines: 1 },
    { name: 'd', line: 5, lines: 3 },
    { name: 'f', line: 10, lines: 1 },
  ]);
});

type Tree = Readonly<Record<string, string>>;

const filesOf = (tree: Tree): readonly SourceFile[] => Object.entries(tree).map(([path, text]) => ({ path, text }));

const violationsIn = (tree: Tree): readonly string[] => findViolations(filesOf(tree));

const duplicatesIn = (tree: Tree): readonly string[] => findDuplicateExports(parseAll(filesOf(tree)));

const unlistedOptionsIn = (tree: Tree): readonly string[] => findUnlistedOptions(filesOf(tree));

const missingCommentsIn = (text: string): readonly string[] =>
  findMissingComments(parseAll(filesOf({ 'src/core/a.ts': text })));

function readTree(folder: string): readonly SourceFile[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((file) => ({ path: relative(ROOT, file).split(sep).join('/'), text: readFileSync(file, 'utf8') }));
}

const tenLongest = (rows: readonly { lines: number; label: string }[]): string =>
  rows
    .toSorted((a, b) => b.lines - a.lines)
    .slice(0, 10)
    .map(({ lines, label }) => `${String(lines).padStart(5)}  ${label}`)
    .join('\n');

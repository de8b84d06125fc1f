import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SourceFile } from './architecture/module.ts';
import { findFaults, parseAll } from './architecture/walls.ts';

const ROOT = join(import.meta.dirname, '..');

describe('our own source', () => {
  const files = readTree(join(ROOT, 'src'));

  test('keeps every wall, has no import ring and no file over 300 lines', () => {
    expect(files.map(({ path }) => path)).toContain('src/errors.ts');
    expect(findFaults(files)).toStrictEqual([]);
  });

  test('shows where it grows', () => {
    const modules = parseAll(files);
    const functions = modules.flatMap(({ path, functions }) =>
      functions.map(({ name, line, lines }) => ({ lines, label: `${name} (${path}:${line})` })),
    );
    console.log(`longest files\n${tenLongest(modules.map(({ path, lines }) => ({ lines, label: path })))}`);
    console.log(`longest functions\n${tenLongest(functions)}`);
    expect(functions.length).toBeGreaterThan(0);
  });
});

describe('a broken wall is found', () => {
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
    ['when core exports what is not its own', "export { z } from 'zod';", 'imports zod; core may not use it'],
    ['when core imports its errors', "import '../errors.ts';", 'imports src/errors.ts; core may not use errors.ts'],
    [
      'when a path is computed',
      'await import("./a" + ".ts");',
      'imports a path made at run time, which cannot be checked',
    ],
    ['when an import leaves src', "import '../../x.ts';", 'imports ../../x.ts, which is no module of src'],
  ])('%s', (_, text, complaint) => {
    expect(faultsIn({ 'src/core/a.ts': text, 'src/errors.ts': '' })).toStrictEqual([`src/core/a.ts:1 ${complaint}`]);
  });

  test('when one part of the shell reaches into another', () => {
    expect(
      faultsIn({ 'src/turns/script-turn.ts': "\nimport type { A } from '../store/a.ts';", 'src/store/a.ts': '' }),
    ).toStrictEqual(['src/turns/script-turn.ts:2 imports src/store/a.ts; turns may not use store']);
  });

  test('when the engine or the graph touches the world', () => {
    const text = "import 'node:path';";
    expect(faultsIn({ 'src/engine/a.ts': text, 'src/graph/a.ts': text })).toStrictEqual([
      'src/engine/a.ts:1 imports node:path; engine may not use it',
      'src/graph/a.ts:1 imports node:path; graph may not use it',
    ]);
  });

  test('when the command line goes past the assembly', () => {
    expect(faultsIn({ 'src/cli/main.ts': "import '../engine/drive.ts';", 'src/engine/drive.ts': '' })).toStrictEqual([
      'src/cli/main.ts:1 imports src/engine/drive.ts; cli may not use engine',
    ]);
  });

  test('when a package is used in a room that it was not meant for', () => {
    expect(faultsIn({ 'src/store/a.ts': "import 'yaml';", 'src/yaml/a.ts': "import 'yaml';" })).toStrictEqual([
      'src/store/a.ts:1 imports yaml; store may not use it',
    ]);
  });

  test('when a file belongs to no room, whatever its kind', () => {
    expect(faultsIn({ 'src/utils/a.ts': '', 'src/helper.ts': '', 'src/data/a.json': '{}' })).toStrictEqual([
      'src/utils/a.ts belongs to no room: utils is not in the table',
      'src/helper.ts belongs to no room: helper.ts is not in the table',
      'src/data/a.json belongs to no room: data is not in the table',
    ]);
  });

  test('when a file passes 300 lines, not when it has them', () => {
    const lines = 'export {};\n'.repeat(300);
    expect(faultsIn({ 'src/cli/a.ts': lines, 'src/cli/b.ts': `${lines}export {};\n` })).toStrictEqual([
      'src/cli/b.ts has 301 lines, more than 300: it holds two ideas',
    ]);
  });

  test('when a file cannot be parsed, for then nothing in it was checked', () => {
    expect(faultsIn({ 'src/core/a.ts': 'import {' })[0]).toMatch(/^src\/core\/a\.ts cannot be parsed: /);
  });
});

describe('an import ring is found', () => {
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
    const ring = 'src/core/a.ts → src/core/b.ts → src/core/c.ts → src/core/a.ts';
    expect(faultsIn({ 'src/core/a.ts': a, 'src/core/b.ts': b, 'src/core/c.ts': c })).toStrictEqual([
      `import ring: ${ring}`,
    ]);
  });

  test('of one file, and behind a file that is not part of it', () => {
    const tree = { 'src/core/z.ts': "import './y.ts';", 'src/core/y.ts': "import './y.ts';" };
    expect(faultsIn(tree)).toStrictEqual(['import ring: src/core/y.ts → src/core/y.ts']);
  });

  test('but not where two ways lead to one file', () => {
    const tree = { a: "import './b.ts'; import './c.ts';", b: "import './d.ts';", c: "import './d.ts';", d: '' };
    const files = Object.entries(tree).map(([name, text]) => [`src/core/${name}.ts`, text]);
    expect(faultsIn(Object.fromEntries(files))).toStrictEqual([]);
  });
});

describe('core has no clock, no chance and no world', () => {
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
  ])('%s is found', (expression, what) => {
    const text = `// é 😀\nexport const a = ${expression};`;
    expect(faultsIn({ 'src/core/a.ts': text })).toStrictEqual([`src/core/a.ts:2 uses ${what}; core is pure`]);
    expect(faultsIn({ 'src/events/a.ts': text })).toStrictEqual([]);
  });

  test.each([
    'new Date(0).toISOString()',
    'Date.parse("2026-01-01")',
    'Date.UTC(2026, 0)',
    'Math.max(1, 2)',
    '{ process: 1, fetch() {} }.process',
    '"Date.now()" // Math.random()',
  ])('%s is fine', (expression) => {
    expect(faultsIn({ 'src/core/a.ts': `type T = { console: Date };\nexport const a = ${expression}` })).toStrictEqual(
      [],
    );
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

const faultsIn = (tree: Readonly<Record<string, string>>): readonly string[] =>
  findFaults(Object.entries(tree).map(([path, text]) => ({ path, text })));

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

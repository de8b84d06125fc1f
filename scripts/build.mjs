// Builds Raymond from src/. build/ holds the modules as tsc makes them; dist/ is what is published: the same in few files
// and with the libraries in them, for Node.js takes longer to find hundreds of modules than most commands take to run.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { rolldown } from 'rolldown';

/** Libraries in files of their own, which most commands do not need. */
const LATE_LIBRARIES = { yaml: /[\\/]node_modules[\\/]yaml[\\/]/, toml: /[\\/]node_modules[\\/]smol-toml[\\/]/ };

for (const folder of ['build', 'dist']) rmSync(folder, { recursive: true, force: true });
compile();
pruneTypes();
const packages = new Set([...(await bundle()), ...(await bundlePage())]);
writeFileSync('dist/licenses.txt', [...packages].sort().map(licenseOf).join('\n\n'));
chmodSync('dist/raymond.js', 0o755);

function compile() {
  const declarations = ['--declaration', '--declarationDir', 'dist/types'];
  const { status } = spawnSync('tsc', ['-p', 'tsconfig.build.json', ...declarations], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(status ?? 1);
}

/**
 * All files lie side by side: `src/package-files.ts` counts on it. What the package depends on stays outside. Returns the
 * folders of the packages that went in.
 */
async function bundle() {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const input = {
    raymond: 'build/cli/entry.js',
    index: 'build/index.js',
    thread: 'build/thread.js',
    proxy: 'build/proxy.js',
  };
  const made = await rolldown({
    input,
    platform: 'node',
    external: Object.keys({ ...dependencies, ...peerDependencies }),
    // The same code as modules, of which only what is used goes in.
    resolve: { alias: { yaml: resolve('node_modules/yaml/browser/dist/index.js') } },
    logLevel: 'warn',
  });
  const { output } = await made.write({
    dir: 'dist',
    // Node.js loads this format faster, and only of this one it can keep what it compiles.
    format: 'cjs',
    // Compiled code that was kept cannot use `import`.
    dynamicImportInCjs: false,
    strict: true,
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: { groups: layers() },
  });
  await made.close();
  for (const { fileName } of output)
    writeFileSync(`dist/${fileName}`, toAscii(exportPlainly(loadLate(readFileSync(`dist/${fileName}`, 'utf8')))));
  writeFileSync('dist/package.json', '{ "type": "commonjs" }\n');
  writeFileSync('dist/types/package.json', '{ "type": "module" }\n');
  const { exports } = output.find(({ name }) => name === 'index');
  writeFileSync(
    'dist/index.mjs',
    `import index from './index.js';\n\nexport const { ${exports.join(', ')} } = index;\n`,
  );
  return packagesIn(output);
}

/**
 * The same code, but it loads these libraries and the modules of Node.js when it first uses them, not when a file begins that
 * mentions them. A bundler can do that only for `import()`, which would make everything that reads a file asynchronous.
 */
function loadLate(code) {
  const libraries = `\\./(?:${Object.keys(LATE_LIBRARIES).join('|')})-.*`;
  const found = new RegExp(
    `^\t?(?:let|const) (\\w+) = (require\\("(?:node:(?!fs"|path").*|${libraries})"\\));\n`,
    'gm',
  );
  const getters = [];
  let result = code;
  for (const [line, name, load] of code.matchAll(found)) {
    // Used as a whole, it is needed at once.
    if (code.match(new RegExp(`\\b${name}\\b(?!\\.)`, 'g')).length > 1) continue;
    result = result.replace(line, '').replaceAll(new RegExp(`\\b${name}\\.`, 'g'), `$$late.${name}.`);
    getters.push(`  get ${name}() { return Object.defineProperty(this, "${name}", { value: ${load} }).${name}; },\n`);
  }
  return result.replace('"use strict";\n', `"use strict";\nconst $$late = {\n${getters.join('')}};\n`);
}

/**
 * The same code, whose files export values instead of getters: 700 of them take 1.7 ms at the start of a run. Nothing that
 * is exported here changes later, but for `let`, which keeps its getter.
 */
function exportPlainly(code) {
  const exported = [];
  const rest = code.replace(
    /^Object\.defineProperty\(exports, "(\w+)", \{\s+enumerable: true,\s+get: function\(\) \{\s+return ([\w$]+);\s+\}\s+\}\);\n?/gm,
    (getter, name, value) => {
      const isConstant = new RegExp(
        `^(?:async )?(?:function\\*? |const |var )${value.replaceAll('$', '\\$')}(?: = |\\()`,
        'm',
      );
      if (!isConstant.test(code)) return getter;
      exported.push(`exports.${name} = ${value};\n`);
      return '';
    },
  );
  return rest + exported.join('');
}

/** The same code without any other character: a single one doubles the memory that V8 needs for its file. */
function toAscii(code) {
  return code.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * What `raymond run` loads, in four files. Left alone, each set of modules that the same commands share is a file of its
 * own: a hundred of them. A layer has no module of those before it; packages are where they are needed first.
 */
function layers() {
  const launched = ['start', 'trust/known-projects', 'trust/foreign-folders'].map((name) => `app/${name}`);
  const run = modulesOf(['cli/commands/run', ...launched, 'storage/files/runs']);
  const sharedWith = (commands, ...later) =>
    new Set([...modulesOf([...commands.map((each) => `cli/commands/${each}`), ...later])].filter((id) => run.has(id)));
  const modules = {
    // Without `cli/main`, which runs the command as soon as it is loaded.
    program: modulesOf(['cli/program', 'render/terminal/process-terminal']),
    runs: sharedWith(
      ['list', 'status', 'logs', 'costs', 'prune', 'asks'],
      'storage/files/catalog',
      'storage/files/journal',
    ),
    workflow: sharedWith(['lint']),
    run,
  };
  return [
    ...Object.entries(LATE_LIBRARIES).map(([name, test]) => ({ name, test, priority: 20 })),
    ...Object.entries(modules).map(([name, ids], at) => ({ name, test: (id) => ids.has(id), priority: 10 - at })),
  ];
}

/** These modules with all that they import, but for what they load later. */
function modulesOf(names) {
  const found = new Set(names.map((name) => resolve(`build/${name}.js`)));
  // A set that grows is walked to its new end.
  for (const file of found) {
    for (const [, path] of readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b[^'"]*['"](\.[^'"]+\.js)['"];/gm))
      found.add(resolve(dirname(file), path));
  }
  return found;
}

/** The page of `raymond serve`: one script for browsers, and what it needs beside it. */
async function bundlePage() {
  const made = await rolldown({
    input: 'web/app/main.tsx',
    platform: 'browser',
    logLevel: 'warn',
  });
  const { output } = await made.write({ file: 'dist/page/app.js', format: 'esm', minify: true });
  await made.close();
  for (const file of ['index.html', 'app.css', 'icon.svg']) copyFileSync(`web/app/${file}`, `dist/page/${file}`);
  return packagesIn(output);
}

/** The folders of the packages that went into a bundle. */
function packagesIn(output) {
  const modules = output.flatMap(({ moduleIds = [] }) => moduleIds);
  return modules.flatMap((id) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(id) ?? []);
}

function licenseOf(folder) {
  const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (file === undefined) throw new Error(`${name} has no license file`);
  return `${name}\n${'-'.repeat(name.length)}\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
}

/** Of the declarations, those of the library are published: the others speak of packages that nobody has installed. */
function pruneTypes() {
  const folder = resolve('dist/types');
  const needed = new Set([join(folder, 'index.d.ts')]);
  // A set that grows is walked to its new end.
  for (const file of needed) {
    for (const [, path] of readFileSync(file, 'utf8').matchAll(/(?:from |import\()['"](\.[^'"]+)\.[jt]s['"]/g))
      needed.add(resolve(dirname(file), `${path}.d.ts`));
  }
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !needed.has(path)) rmSync(path);
  }
}

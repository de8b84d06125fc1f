// Installs the pinned versions of Claude Code that the tests run, unless they are there already.
//   node test/claude-code/install.mjs
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const HERE = import.meta.dirname;
const { dependencies } = JSON.parse(readFileSync(join(HERE, 'package.json'), 'utf8'));
const pinned = Object.entries(dependencies).map(([name, spec]) => ({
  folder: join(HERE, 'node_modules', name),
  version: spec.slice(spec.lastIndexOf('@') + 1),
}));

if (!pinned.every(isInstalled)) {
  console.error(
    `Installing Claude Code ${pinned.map(({ version }) => version).join(' and ')} for the tests (0.6 GB) …`,
  );
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], HERE);
  // Where npm does not run the scripts of packages, the program is still a placeholder.
  for (const each of pinned) if (!isInstalled(each)) run(process.execPath, ['install.cjs'], each.folder);
  for (const each of pinned) {
    if (!isInstalled(each)) fail(`Claude Code ${each.version} does not start from ${each.folder}.`);
  }
}

function isInstalled({ folder, version }) {
  const program = join(folder, 'bin', 'claude.exe');
  if (!existsSync(program)) return false;
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8', timeout: 30_000 });
  return stdout?.startsWith(version) ?? false;
}

function run(command, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  });
  if (status !== 0) fail(`\`${command} ${args.join(' ')}\` failed in ${cwd}:\n${error?.message ?? stdout + stderr}`);
}

function fail(message) {
  console.error(
    `${message}\nThe tests that run the real Claude Code need it; installing it needs the npm registry once.`,
  );
  process.exit(1);
}

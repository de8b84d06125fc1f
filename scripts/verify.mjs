// Everything that must hold besides the tests: types, format, lint, nothing unused, and a package that works where
// it is installed. Stops at the first failure.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const { version, bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const temp = mkdtempSync(join(tmpdir(), 'raymond-verify-'));
process.on('exit', () => rmSync(temp, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));

/** Commands that need what the package carries besides its code. */
const TRIED = [
  'init first',
  'lint first',
  'test first',
  'graph first --output first.html',
  'lint --explain silent-path',
];

run('npm', ['run', '--silent', 'check']);
run('npm', ['run', '--silent', 'unused']);
const tarball = pack();
run('npm', ['run', '--silent', 'package', '--', tarball]);
tryInstalled(tarball);
console.log('verified: types, format, lint, unused code, package');

/** Packs what would be published, not what lies in the folder. */
function pack() {
  run('npm', ['pack', '--silent', '--pack-destination', temp]);
  return join(
    temp,
    readdirSync(temp).find((name) => name.endsWith('.tgz')),
  );
}

/** Installs the package as a user would, and starts each of its commands. */
function tryInstalled(tarball) {
  const home = join(temp, 'installed');
  mkdirSync(home);
  // Without a package.json of its own npm would install into a folder further up.
  writeFileSync(join(home, 'package.json'), '{ "private": true }\n');
  run('npm', ['install', '--no-audit', '--no-fund', '--omit=dev', tarball], { cwd: home });
  for (const name of Object.keys(bin)) {
    const said = run(join(home, 'node_modules', '.bin', name), ['--version'], { cwd: home, stdio: 'pipe' });
    if (!said.includes(version)) fail(`${name} --version said ${JSON.stringify(said)}, not ${version}`);
    console.log(`${name} --version: ${said.trim()}`);
  }
  const raymond = join(home, 'node_modules', '.bin', 'raymond');
  for (const words of TRIED) run(raymond, words.split(' '), { cwd: home, stdio: 'pipe' });
}

function run(command, args, options = {}) {
  console.log(`\n> ${[command, ...args].join(' ')}`);
  const shell = process.platform === 'win32';
  const done = spawnSync(command, args, { cwd: root, stdio: 'inherit', encoding: 'utf8', shell, ...options });
  if (done.status !== 0) fail(`${command} ${args.join(' ')} failed\n${done.stderr ?? done.error?.message ?? ''}`);
  return done.stdout ?? '';
}

function fail(message) {
  console.error(message.trimEnd());
  process.exit(1);
}

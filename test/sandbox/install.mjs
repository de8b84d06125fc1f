// Installs bubblewrap and socat for the tests of the sandbox, unless they are there already.
//   node test/sandbox/install.mjs
// As root with apt-get. Otherwise the bubblewrap in the package of Codex stands in, if there is a socat. Where neither works, these tests are
// skipped, and their titles say why.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const HERE = import.meta.dirname;
const CODEX = '@openai/codex@0.169.0';

if (process.platform === 'linux' && !has('bwrap', HERE)) {
  if (process.getuid() === 0 && run('apt-get', ['--version'])) {
    console.error('Installing bubblewrap and socat for the tests …');
    const install = () => run('apt-get', ['install', '-y', '--no-install-recommends', 'bubblewrap', 'socat']);
    if (!install()) run('apt-get', ['update']) && install();
  }
  if (!has('bwrap')) takeFromCodex();
}
if (process.platform === 'linux' && !has('socat')) {
  if (process.getuid() === 0) run('apt-get', ['install', '-y', '--no-install-recommends', 'socat']);
  if (!has('socat')) console.error('There is no socat: the tests of the sandbox are skipped.');
}

/** True if a program is on the PATH, or in the folder of programs for the tests. */
function has(program, folder) {
  const paths = [...(process.env.PATH ?? '').split(':'), ...(folder ? [join(folder, 'programs')] : [])];
  return paths.some((path) => existsSync(join(path, program)));
}

function takeFromCodex() {
  const temporary = mkdtempSync(join(tmpdir(), 'raymond-codex-'));
  try {
    const architecture = process.arch === 'arm64' ? 'arm64' : 'x64';
    console.error('Taking bubblewrap for the tests from the package of Codex …');
    if (!run('npm', ['pack', '--silent', `${CODEX}-linux-${architecture}`], temporary)) return;
    const [archive] = readdirSync(temporary);
    mkdirSync(join(HERE, 'programs'), { recursive: true });
    const into = ['-C', join(HERE, 'programs'), '--strip-components=4', '--wildcards', '*/bwrap'];
    run('tar', ['xzf', archive, ...into], temporary);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

function run(command, args, cwd = HERE) {
  const { status, error, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0 && error?.code !== 'ENOENT')
    console.error(`\`${command} ${args.join(' ')}\` failed: ${stderr?.trim()}`);
  return status === 0;
}

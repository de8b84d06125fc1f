// Whether a run with conversations that stay open grows over time: the memory, files and processes of Raymond while two agents
// go from prompt to prompt. It takes as many minutes as `--minutes` says (60), and is no part of `npm run bench`. Needs the
// Claude Code of the tests; `--claude 197` takes the older one. `--api-ms 0` lets the API answer at once instead of after 1.5
// seconds: many more turns, with hardly time to start anything ahead. `--heap` also tells the size of the heap after a garbage
// collection, which is then made before each look.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { claudeEnv, pathOfClaude, startApi } from './gotos.mjs';
import { newWorkshop } from './harness.mjs';

const AGENTS = 2;
/** So often a conversation is left for a new one, which is started ahead. */
const RESET_EVERY = 40;
const SAMPLE_MS = 15_000;

const option = (name, fallback) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? fallback : process.argv[at + 1];
};
const minutes = Number(option('minutes', '60'));
const apiMs = Number(option('api-ms', '1500'));
const claude = pathOfClaude(option('claude', '325'));
if (!existsSync(claude)) throw new Error('node test/claude-code/install.mjs installs the Claude Code that this needs');

const place = newWorkshop()();
const folder = join(place, 'workflow');
const home = join(place, 'home');
for (const each of [folder, home]) mkdirSync(each);
writeFileSync(join(folder, 'START.sh'), `echo '${'<fork next="END">WORK</fork>'.repeat(AGENTS)}'\n`);
writeFileSync(join(folder, 'WORK.md'), 'Continue.\n');
writeFileSync(
  join(folder, 'LEAVE.md'),
  '---\nallowed_transitions: [{ tag: reset, target: WORK }]\n---\nLeave this conversation.\n',
);
writeFileSync(join(folder, 'END.sh'), "echo '<result>all are at work</result>'\n");

const endsAt = Date.now() + minutes * 60_000;
let turns = 0;
const api = await startApi((asked, message) => {
  turns = asked;
  if (message.includes('Leave this conversation.')) return '<reset>WORK</reset>';
  if (Date.now() >= endsAt) return '<result>done</result>';
  return asked % RESET_EVERY === 0 ? '<goto>LEAVE</goto>' : '<goto>WORK</goto>';
}, apiMs);
const env = claudeEnv(home, api.url);
const command = fileURLToPath(new URL('../dist/raymond.js', import.meta.url));
const heapFile = join(place, 'heap');
const probe = join(place, 'probe.cjs');
writeFileSync(probe, `(${reportHeap})(${JSON.stringify(heapFile)}, ${SAMPLE_MS});\n`);
const flags = process.argv.includes('--heap') ? ['--expose-gc', '--require', probe] : [];
const args = [command, 'run', folder, '--claude', claude, '--budget', '0', '--quiet', '--run-id', 'soak'];
const run = spawn(process.execPath, [...flags, ...args], { cwd: place, env, stdio: ['ignore', 'ignore', 'inherit'] });
const exited = new Promise((done) => run.once('exit', done));

/** Runs in the process of Raymond: writes the size of its heap to a file from time to time. */
function reportHeap(file, everyMs) {
  const { writeFileSync } = require('node:fs');
  const report = () => {
    global.gc();
    writeFileSync(file, String(process.memoryUsage().heapUsed / 2 ** 20));
  };
  setInterval(report, everyMs).unref();
}

/** Everything that descends from a process, by the parents of all processes. */
function descendantsOf(pid) {
  const children = new Map();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const parent = Number(readFileSync(`/proc/${name}/stat`, 'latin1').split(') ').at(-1).split(' ')[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    } catch {
      // It has ended meanwhile.
    }
  }
  const found = [];
  for (const open = [pid]; open.length > 0; ) {
    const next = children.get(open.pop()) ?? [];
    found.push(...next);
    open.push(...next);
  }
  return found;
}

/** The processes that carry the marker of the run, whoever their parent is. */
const markedProcesses = () =>
  readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/environ`, 'latin1').includes('RAYMOND_TURN=soak/');
    } catch {
      return false;
    }
  });

const samples = [];
const startedAt = Date.now();
for (;;) {
  const isOver = await Promise.race([exited.then(() => true), sleep(SAMPLE_MS, false)]);
  if (isOver) break;
  const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${run.pid}/status`, 'latin1'))?.[1] ?? 0) / 1024;
  const files = readdirSync(`/proc/${run.pid}/fd`).length;
  const heap = existsSync(heapFile) ? `, heap ${Number(readFileSync(heapFile, 'utf8')).toFixed(1)} MB` : '';
  const sample = { seconds: Math.round((Date.now() - startedAt) / 1000), turns, rss: Math.round(rss), files };
  samples.push({ ...sample, processes: descendantsOf(run.pid).length });
  const { seconds, processes } = samples.at(-1);
  console.log(`${seconds} s  ${turns} turns  ${sample.rss} MB${heap}  ${files} open files  ${processes} processes`);
}
api.close();
const warm = samples.slice(Math.floor(samples.length / 4));
const [first, last] = [warm.slice(0, warm.length / 3), warm.slice(-warm.length / 3)].map((part) =>
  Math.round(part.reduce((sum, { rss }) => sum + rss, 0) / Math.max(1, part.length)),
);
const most = (name) => samples.reduce((max, sample) => Math.max(max, sample[name]), 0);
console.log(`exit ${await exited}; ${turns} turns; ${markedProcesses().length} processes left`);
console.log(`memory of Raymond: ${first} MB after the first quarter, ${last} MB at the end, ${most('rss')} MB at most`);
console.log(`at most ${most('files')} open files and ${most('processes')} processes`);

// What a transition between scripts costs on top of the scripts themselves, with one agent and with a thousand.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuMs, figure, gapsOf, inTurns, median, quantile } from './harness.mjs';

const CROWDS = [1, 100, 1000];
const TRANSITIONS = 500;
const ROUNDS = 5;

/** A workflow of one script that starts itself again until its counter says stop. */
function newCounter(place, count) {
  const [folder, counter] = [join(place, 'workflow'), join(place, 'counter')];
  mkdirSync(folder);
  writeFileSync(
    join(folder, 'START.sh'),
    `read -r n <'${counter}'
n=$((n + 1))
echo $n >'${counter}'
if [ $n -lt ${count} ]; then echo '<reset>START.sh</reset>'; else echo '<result>done</result>'; fi
`,
  );
  return { folder, script: join(folder, 'START.sh'), rewind: () => writeFileSync(counter, '0\n') };
}

/** The times between the starts of scripts in a bare loop; bash tells them by itself, without a process. */
function loop({ script, rewind }, count, output) {
  rewind();
  const code = `for ((i = 0; i <= ${count}; i++)); do echo $EPOCHREALTIME; /bin/bash '${script}' >'${output}' 2>&1; done`;
  const before = cpuMs();
  const said = execFileSync('/bin/bash', ['-c', code], { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' } });
  const times = said
    .trim()
    .split('\n')
    .map((seconds) => Number(seconds) * 1000);
  return { gaps: gapsOf(times), cpuMs: (cpuMs() - before) / times.length };
}

/** The same in a process of its own: the larger a process is, the slower it starts others. */
function alone(file, ...args) {
  const path = fileURLToPath(new URL(file, import.meta.url));
  return JSON.parse(execFileSync(process.execPath, [path, ...args], { encoding: 'utf8', timeout: 60_000 }));
}

/** What it takes to make a file here; a turn makes a handful. Where many were deleted lately, ext4 is slow at it. */
function files({ workshop }, count) {
  const place = workshop();
  const times = [performance.now()];
  for (let file = 0; file < count; file += 1) {
    writeFileSync(join(place, String(file)), '');
    times.push(performance.now());
  }
  return { gaps: gapsOf(times), cpuMs: 0 };
}

function starts({ modules, workshop }, { script, rewind }, count) {
  rewind();
  return alone('starts.mjs', modules.href, workshop(), script, String(count));
}

function run({ modules, workshop }, crowd, count) {
  const place = workshop();
  newCounter(place, count).rewind();
  return alone('crowd.mjs', modules.href, place, String(crowd), String(count));
}

/** The rounds are many and short: what disturbs us comes and goes. */
export async function measureTransitions(bench) {
  const rounds = bench.quick ? 2 : ROUNDS;
  const count = TRANSITIONS / ROUNDS;
  const place = bench.workshop();
  const counter = newCounter(place, Number.MAX_SAFE_INTEGER);
  const cases = {
    loop: async () => loop(counter, count, join(place, 'output')),
    files: async () => files(bench, count),
    starts: async () => starts(bench, counter, count),
    ...Object.fromEntries(CROWDS.map((crowd) => [crowd, async () => run(bench, crowd, count)])),
  };
  const all = await inTurns(rounds, cases);
  const each = (summary) => Object.fromEntries(Object.entries(all).map(([name, rounds]) => [name, summary(rounds)]));
  const typical = each((rounds) => median(rounds.flatMap(({ gaps }) => gaps)));
  const calm = each((rounds) => median(rounds.map(({ gaps }) => quantile(gaps, 0.1))));
  const cpu = each((rounds) => median(rounds.map(({ cpuMs }) => cpuMs)));
  return [
    figure('a file made in this place', typical.files, 'ms'),
    figure('a script in a bare loop', typical.loop, 'ms'),
    figure('a transition of a script, on top of that', typical[1] - typical.loop, 'ms', 3),
    figure('  of this, a start from Node.js with our wrapper', typical.starts - typical.loop, 'ms'),
    figure('a transition on top, between the calmest tenths', calm[1] - calm.loop, 'ms'),
    figure('  of this, the start', calm.starts - calm.loop, 'ms'),
    figure('a transition on top, in processor time', cpu[1] - cpu.loop, 'ms'),
    figure('  of this, the start', cpu.starts - cpu.loop, 'ms'),
    figure('a transition among 100 agents, over one alone', typical[100] / typical[1], 'x', 1.2),
    figure('a transition among 1,000 agents, over one alone', typical[1000] / typical[1], 'x', 1.2),
    figure('the same in processor time', cpu[1000] / cpu[1], 'x'),
  ];
}

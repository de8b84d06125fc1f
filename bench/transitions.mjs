// What a transition between scripts costs on top of the scripts themselves, with one agent and with a thousand.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { figure, inTurns, median, quantile } from './harness.mjs';

const CROWDS = [1, 100, 1000];
const TRANSITIONS = 500;
const DAY_MS = 86_400_000;

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

/** The times between the starts of turns of `main` in a run, among so many agents, of which the others only sleep. */
async function run({ load, workshop }, crowd, count) {
  const { resumeRun } = await load('index.js');
  const place = workshop();
  const { folder, rewind } = newCounter(place, count + 1);
  rewind();
  const id = await createCrowd(load, place, folder, crowd);
  const times = [];
  const cpu = [];
  let stop = () => {};
  const observe = (event) => {
    if (event.kind === 'turn_started') times.push(performance.now());
    if (event.kind === 'turn_started' && (times.length === 1 || times.length === count + 1)) cpu.push(cpuMs());
    if (event.kind === 'agent_ended') stop();
  };
  const running = await resumeRun(id, { cwd: place, observe });
  stop = () => running.stop();
  const { agents } = await running.finished;
  if (agents[0].phase.kind !== 'ended') throw new Error(`main is ${agents[0].phase.kind}`);
  return { gaps: gapsOf(times), cpuMs: (cpu[1] - cpu[0]) / count };
}

/** A run on disk whose `main` is about to start, while the others sleep as after a failed try, until tomorrow. */
async function createCrowd(load, place, path, crowd) {
  const [{ DEFAULT_OPTIONS, newAgent, newRun }, { layoutOf }, { createRun }] = await Promise.all(
    ['core/run.js', 'store/layout.js', 'store/store.js'].map(load),
  );
  const startedAt = Date.now();
  const workflow = { name: 'bench', path, platform: 'unix' };
  const start = { id: 'bench', workflow, startedAt, options: DEFAULT_OPTIONS, cwd: place, input: null };
  const run = newRun({ ...start, state: 'START.sh' });
  const [main] = run.agents;
  const phase = { kind: 'sleeping', why: 'retry', untilMs: startedAt + DAY_MS, prompt: { kind: 'state' } };
  const sleepers = Array.from({ length: crowd - 1 }, (_, index) => ({
    ...newAgent({ ...main, id: `main_worker${index + 1}`, parent: 'main', state: 'SLEEPER.md', since: 0 }),
    phase,
  }));
  const store = await createRun(layoutOf(join(place, '.raymond')), { ...run, agents: [main, ...sleepers] }, []);
  await store.close();
  return run.id;
}

const gapsOf = (times) => times.slice(1).map((time, index) => time - times[index]);

const CLOCK_TICK_MS = 10;

/** What this process and those it has waited for have used of the processors. */
function cpuMs() {
  const { user, system } = process.cpuUsage();
  const fields = readFileSync('/proc/self/stat', 'latin1').split(') ').at(-1).split(' ');
  return (user + system) / 1000 + (Number(fields[13]) + Number(fields[14])) * CLOCK_TICK_MS;
}

/** The rounds are many and short: what disturbs us comes and goes. */
export async function measureTransitions(bench) {
  const rounds = bench.quick ? 2 : 10;
  const count = TRANSITIONS / 10;
  const place = bench.workshop();
  const counter = newCounter(place, Number.MAX_SAFE_INTEGER);
  const cases = {
    loop: async () => loop(counter, count, join(place, 'output')),
    ...Object.fromEntries(CROWDS.map((crowd) => [crowd, () => run(bench, crowd, count)])),
  };
  await inTurns(1, cases);
  const all = await inTurns(rounds, cases);
  const each = (summary) => Object.fromEntries(Object.entries(all).map(([name, rounds]) => [name, summary(rounds)]));
  const typical = each((rounds) => median(rounds.flatMap(({ gaps }) => gaps)));
  const calm = each((rounds) =>
    quantile(
      rounds.flatMap(({ gaps }) => gaps),
      0.1,
    ),
  );
  const cpu = each((rounds) => median(rounds.map(({ cpuMs }) => cpuMs)));
  return [
    figure('a script in a bare loop', typical.loop, 'ms'),
    figure('a transition of a script', typical[1], 'ms'),
    figure('a transition on top of the bare loop', typical[1] - typical.loop, 'ms', 3),
    figure('the same, between the calmest tenths', calm[1] - calm.loop, 'ms'),
    figure('the same in processor time', cpu[1] - cpu.loop, 'ms'),
    figure('a transition among 100 agents, over one alone', typical[100] / typical[1], 'x', 1.2),
    figure('a transition among 1,000 agents, over one alone', typical[1000] / typical[1], 'x', 1.2),
    figure('the same in processor time', cpu[1000] / cpu[1], 'x'),
  ];
}

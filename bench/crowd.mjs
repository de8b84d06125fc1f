// One run in a process of its own: `main` goes from script to script among so many agents, of which the others sleep.
import { join } from 'node:path';
import { cpuMs, gapsOf } from './harness.mjs';

const WARM_UP = 20;
const DAY_MS = 86_400_000;

const [modules, place, crowd, count] = process.argv.slice(2);
const load = (file) => import(new URL(file, modules));
console.log(JSON.stringify(await measure(Number(crowd), Number(count))));

/** The times between the starts of turns of `main`, and what a transition takes of the processors. */
async function measure(crowd, count) {
  const { resumeRun } = await load('index.js');
  const id = await createCrowd(crowd);
  const times = [];
  const cpu = [];
  let stop = () => {};
  const observe = (event) => {
    if (event.kind === 'agent_ended') stop();
    if (event.kind !== 'turn_started') return;
    times.push(performance.now());
    if (times.length === WARM_UP || times.length === count) cpu.push(cpuMs());
  };
  const running = await resumeRun(id, { cwd: place, observe });
  stop = () => running.stop();
  const { agents } = await running.finished;
  if (agents[0].phase.kind !== 'ended') throw new Error(`main is ${agents[0].phase.kind}`);
  return { gaps: gapsOf(times.slice(WARM_UP - 1)), cpuMs: (cpu[1] - cpu[0]) / (count - WARM_UP) };
}

/** A run on disk whose `main` is about to start, while the others sleep as after a failed try, until tomorrow. */
async function createCrowd(crowd) {
  const [{ DEFAULT_OPTIONS }, { newRun }, { newAgent }, { layoutOf }, { createFileLeases }] = await Promise.all(
    ['core/options/options.js', 'core/run/run.js', 'core/run/agent.js', 'disk/layout.js', 'storage/files/lease.js'].map(
      load,
    ),
  );
  const startedAt = Date.now();
  const workflow = { name: 'bench', path: join(place, 'workflow'), platform: 'unix' };
  const start = { id: 'bench', workflow, startedAt, options: DEFAULT_OPTIONS, cwd: place, input: null };
  const run = newRun({ ...start, state: 'START.sh' });
  const [main] = run.agents;
  const phase = { kind: 'sleeping', why: 'retry', untilMs: startedAt + DAY_MS, prompt: { kind: 'state' } };
  const sleepers = Array.from({ length: crowd - 1 }, (_, index) => ({
    ...newAgent({ ...main, id: `main_worker${index + 1}`, parent: 'main', state: 'SLEEPER.md', since: 0 }),
    phase,
  }));
  const leases = createFileLeases(layoutOf(join(place, '.raymond')));
  const lease = await leases.create({ run: { ...run, agents: [main, ...sleepers] }, events: [] });
  await lease.release();
  return run.id;
}

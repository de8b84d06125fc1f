// What no orchestrator of our kind can do without: scripts started from Node.js one after the other, each in its folder and with
// the wrapper that lets it outlive us, but nothing saved and nothing decided.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { cpuMs, gapsOf } from './harness.mjs';

const WARM_UP = 20;

const [modules, place, script, count] = process.argv.slice(2);
const { CommandStarter } = await import(new URL('process/ready-wrapper.js', modules));
const { MARKER_VARIABLE } = await import(new URL('process/command.js', modules));

const times = [];
const env = { ...process.env };
const starter = new CommandStarter('bench');
const alive = setInterval(() => {}, 60_000);
let before = 0;
for (let turn = 0; turn < Number(count); turn += 1) {
  if (turn === WARM_UP) before = cpuMs();
  times.push(performance.now());
  const dir = join(place, String(turn));
  mkdirSync(dir);
  const command = {
    file: '/bin/bash',
    args: [script],
    cwd: place,
    input: 'none',
    env: { ...env, [MARKER_VARIABLE]: `bench/${turn}` },
  };
  await (await starter.start(dir, command)).exited;
}
starter.close();
clearInterval(alive);
console.log(JSON.stringify({ gaps: gapsOf(times.slice(WARM_UP)), cpuMs: (cpuMs() - before) / (count - WARM_UP) }));

// Whether a thousand workers at once fit into little memory. The run has a process of its own, to be measured alone.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { figure } from './harness.mjs';

const FORKS = 1000;
const MB = 1024;

/** What the orchestrator needed at most, and how long it took. */
export async function measureForks({ modules, workshop, quick }) {
  const forks = quick ? FORKS / 10 : FORKS;
  const place = workshop();
  writeWorkflow(join(place, 'workflow'), forks);
  const output = execFileSync(process.execPath, [fileURLToPath(import.meta.url), modules.href, place], {
    encoding: 'utf8',
    timeout: 120_000,
  });
  const { status, agents, peakKb, ms } = JSON.parse(output);
  if (status !== 'completed' || agents !== forks + 1) throw new Error(`${agents} agents, ${status}`);
  return [
    figure(`memory at most with ${forks} forks at once`, peakKb / MB, 'MB', 150),
    figure(`a worker, of ${forks} at once`, ms / forks, 'ms'),
  ];
}

function writeWorkflow(folder, forks) {
  const fork = '<fork next=\\"END.sh\\" item=\\"$i\\">WORKER.sh</fork>';
  mkdirSync(folder);
  writeFileSync(join(folder, 'START.sh'), `for ((i = 0; i < ${forks}; i++)); do echo "${fork}"; done\n`);
  writeFileSync(join(folder, 'WORKER.sh'), 'echo "<result>$item</result>"\n');
  writeFileSync(join(folder, 'END.sh'), "echo '<result>all are on their way</result>'\n");
}

async function runAlone(modules, place) {
  const { runWorkflow } = await import(new URL('index.js', modules));
  const start = performance.now();
  const running = await runWorkflow(join(place, 'workflow'), { cwd: place });
  const { status, agents } = await running.finished;
  const ms = performance.now() - start;
  const peakKb = Number(/VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
  console.log(JSON.stringify({ status, agents: agents.length, peakKb, ms }));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runAlone(process.argv[2], process.argv[3]);

// Whether a thousand workers at once fit into little memory, and what a run needs that only waits.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { figure, median } from './harness.mjs';

const FORKS = 1000;
const MB = 1024;
const POLL_INTERVAL_MS = 10;

/** What the orchestrator needed at most, and how long it took. */
export async function measureForks({ command, workshop, quick }) {
  const forks = quick ? FORKS / 10 : FORKS;
  const place = workshop();
  writeWorkflow(join(place, 'workflow'), forks);
  const { document, peakKb, ms } = await runAlone(command, place);
  if (document.status !== 'completed' || document.agents.length !== forks + 1)
    throw new Error(`${document.agents.length} agents, ${document.status}`);
  const idle = workshop();
  mkdirSync(join(idle, 'workflow'));
  writeFileSync(join(idle, 'workflow', 'START.sh'), "sleep 2; echo '<result>rested</result>'\n");
  return [
    figure(
      'memory of a run that waits for a script',
      median((await runAlone(command, idle)).residentKb) / MB,
      'MB',
      60,
    ),
    figure(`memory at most with ${forks} forks at once`, peakKb / MB, 'MB', 130),
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

/** Runs the command, and looks at its memory until it ends. */
async function runAlone(command, place) {
  const start = performance.now();
  const child = spawn(process.execPath, [command, 'run', 'workflow', '--json', '--quiet'], {
    cwd: place,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  let peakKb = 0;
  const residentKb = [];
  const looks = setInterval(() => {
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    peakKb = Number(/VmHWM:\s*(\d+)/.exec(status)?.[1] ?? peakKb);
    residentKb.push(Number(/VmRSS:\s*(\d+)/.exec(status)?.[1] ?? 0));
  }, POLL_INTERVAL_MS);
  await new Promise((resolve) => child.on('close', resolve));
  clearInterval(looks);
  return { document: JSON.parse(output), peakKb, residentKb, ms: performance.now() - start };
}

// What questions cost while they wait: timers, processes and time of the processor of a run in which a thousand agents ask.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMs, figure } from './harness.mjs';

const QUESTIONS = 1000;
const IDLE_MS = 4000;

/** The timers and processes of a run with so many waiting questions, and what it costs to wait. */
export async function measureAsks({ modules, workshop, quick }) {
  const questions = quick ? QUESTIONS / 10 : QUESTIONS;
  const { runWorkflow } = await import(new URL('index.js', modules));
  const place = workshop();
  const folder = join(place, 'workflow');
  mkdirSync(folder);
  writeFileSync(
    join(folder, 'START.sh'),
    `seq ${questions} > items.txt; echo '<fork-each in="items.txt">ASK</fork-each><goto>END</goto>'\n`,
  );
  const ask = '<ask next="END" timeout="24h" timeout_next="END">Publish it?</ask>';
  writeFileSync(join(folder, 'ASK.sh'), `echo '${ask}'\n`);
  writeFileSync(join(folder, 'END.sh'), "echo '<result>done</result>'\n");
  const before = countTimers();
  let asked = 0;
  let allAsked = () => {};
  const waiting = new Promise((done) => {
    allAsked = done;
  });
  const observe = ({ kind }) => {
    if (kind === 'asked') asked += 1;
    if (asked === questions) allAsked();
  };
  const running = await runWorkflow(folder, { cwd: place, options: { onAsk: 'wait' }, observe });
  await waiting;
  await sleep(500);
  const [timers, processes, cpu] = [countTimers() - before, countChildren(), cpuMs()];
  await sleep(IDLE_MS);
  const perSecond = ((cpuMs() - cpu) * 1000) / IDLE_MS;
  running.stop();
  const { agents } = await running.finished;
  const left = agents.filter(({ phase }) => phase.kind === 'asking').length;
  if (left !== questions) throw new Error(`${left} questions wait`);
  return [
    figure(`timers of a run with ${questions} waiting questions`, timers, '', 5),
    figure('processes of these questions', processes, '', 0),
    figure('time of the processor while they wait, by second', perSecond, 'ms', 20),
  ];
}

const countTimers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

/** The children of this process, without the command that counts them. */
const countChildren = () =>
  execFileSync('ps', ['-o', 'comm=', '--ppid', String(process.pid)], { encoding: 'utf8' })
    .split('\n')
    .filter((name) => name !== '' && name.trim() !== 'ps').length;

// What a join costs: a thousand workers that are forked from a file, with and without a join behind them; and how the results
// of many workers are written.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { figure, inTurns, median } from './harness.mjs';

const WORKERS = 1000;
const ROUNDS = 3;

/** How much longer a run takes with a join, and how the time for the results of ten times as many workers grows. */
export async function measureJoins({ load, modules, workshop, quick }) {
  const workers = quick ? WORKERS / 10 : WORKERS;
  const { runWorkflow } = await import(new URL('index.js', modules));
  const place = workshop();
  const run = async (name) => {
    const start = performance.now();
    const running = await runWorkflow(join(place, name), { cwd: place });
    const { status, agents } = await running.finished;
    if (status !== 'completed' || agents.length !== workers + 1) throw new Error(`${agents.length} agents, ${status}`);
    return performance.now() - start;
  };
  for (const tail of ['join', 'goto']) writeWorkflow(place, tail, workers);
  const { joined, plain } = await inTurns(ROUNDS, { joined: () => run('join'), plain: () => run('goto') });
  const growth = await measureResults(load, quick ? 1000 : 10_000);
  return [
    figure(
      `${workers} workers from a file, joined, compared with the same without a join`,
      median(joined) / median(plain),
      '×',
      1.2,
    ),
    ...growth,
  ];
}

function writeWorkflow(place, tail, workers) {
  const folder = join(place, tail);
  mkdirSync(folder);
  const print = `echo '<fork-each in="items.txt">WORKER.sh</fork-each><${tail}>END.sh</${tail}>'`;
  writeFileSync(join(folder, 'START.sh'), `seq ${workers} > items.txt; ${print}\n`);
  writeFileSync(join(folder, 'WORKER.sh'), 'echo "<result>$item</result>"\n');
  writeFileSync(join(folder, 'END.sh'), "echo '<result>all are done</result>'\n");
}

/** The time for the results file of this many workers, and of a tenth of them; linear is a factor of ten. */
async function measureResults(load, workers) {
  const [{ resultsOf }, { newRun }, { DEFAULT_OPTIONS }] = await Promise.all(
    ['core/joins/join-results.js', 'core/run/run.js', 'core/options/options.js'].map(load),
  );
  const workflow = { name: 'w', path: '/w', platform: 'unix' };
  const empty = newRun({
    id: 'r',
    workflow,
    startedAt: 0,
    options: DEFAULT_OPTIONS,
    state: 'A.sh',
    cwd: '/',
    input: null,
  });
  const [main] = empty.agents;
  /** The time for this many workers, so often that all sizes make as many results. */
  const time = (count, repetitions) => {
    const done = Array.from({ length: count }, (_, index) => {
      const phase = { kind: 'ended', result: 'x'.repeat(200) };
      return { ...main, id: `main_w${index}`, parent: 'main', joinedBy: 1, phase, variables: { item: String(index) } };
    });
    const joiner = { ...main, results: 1 };
    const run = { ...empty, agents: [joiner, ...done] };
    const times = Array.from({ length: 9 }, () => {
      const start = performance.now();
      for (let time = 0; time < repetitions; time += 1) JSON.stringify(resultsOf(run, joiner).workers);
      return performance.now() - start;
    });
    return Math.min(...times);
  };
  const [few, many] = [time(workers / 10, 10), time(workers, 1)];
  return [
    figure(`the results of ${workers} workers`, many, 'ms'),
    figure(`compared with those of ${workers / 10}, by worker`, many / few, '×', 1.5),
  ];
}

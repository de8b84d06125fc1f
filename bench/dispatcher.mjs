// Whether a run that forks forever stays small and quick: its state file, its steps, `raymond status`, and real scripts.
import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { figure } from './harness.mjs';

const FORKS = 10_000;
const REAL_FORKS = 3000;
const BATCH = 200;
const MB = 1024 * 1024;
const FILES = ['DISPATCH.sh', 'WORKER.sh'];
const RULES = { policy: [], maxVisits: null };
const ANSWERS = {
  'DISPATCH.sh': '<fork next="DISPATCH" item="x">WORKER</fork>',
  'WORKER.sh': '<result>done</result>',
};

export async function measureDispatcher({ load, workshop, command, quick, modules }) {
  const forks = quick ? FORKS / 5 : FORKS;
  const place = workshop();
  const dispatcher = await newDispatcher(load, place);
  const few = await dispatcher.forkUntil(forks);
  const many = await dispatcher.forkUntil(10 * forks);
  await dispatcher.close();
  const started = performance.now();
  const { length } = execFileSync(process.execPath, [command, 'status'], { cwd: place, maxBuffer: 64 * MB });
  const statusMs = performance.now() - started;
  const count = (number) => `${number.toLocaleString('en')} forks`;
  return [
    figure(`state file after ${count(forks)}`, few.stateBytes / 1024, 'KB'),
    figure(`state file after ${count(10 * forks)}, compared with that`, many.stateBytes / few.stateBytes, '×', 1.05),
    figure(`a transition in the interpreter, up to ${count(forks)}`, few.usPerTransition, 'µs'),
    figure(`the same up to ${count(10 * forks)}, compared`, many.usPerTransition / few.usPerTransition, '×', 1.2),
    figure('journal of a fork', many.journalBytes / (10 * forks) / 1024, 'KB'),
    figure(`\`raymond status\` after ${count(10 * forks)}`, statusMs / 1000, 's'),
    figure('what it prints', length / 1024, 'KB'),
    ...(await measureRealForks(modules, workshop(), quick ? REAL_FORKS / 2 : REAL_FORKS)),
  ];
}

/** A run on disk whose `main` forks one worker after the other, each of which ends at once. No process is started. */
async function newDispatcher(load, place) {
  const [
    { DEFAULT_OPTIONS },
    { newRun, getAgent },
    { initialEvents, step },
    { withChange },
    scheduling,
    { layoutOf },
    { createFileLeases },
    past,
  ] = await Promise.all(
    [
      'core/options/options.js',
      'core/run/run.js',
      'core/step.js',
      'core/run/change.js',
      'core/turns/turn-scheduler.js',
      'disk/layout.js',
      'storage/files/lease.js',
      'wiring/history-file.js',
    ].map(load),
  );
  const layout = layoutOf(join(place, '.raymond'));
  const workflow = { name: 'bench', path: place, platform: 'unix' };
  const start = { id: 'bench', workflow, startedAt: 0, options: DEFAULT_OPTIONS, cwd: place, input: null };
  let run = newRun({ ...start, state: FILES[0] });
  const lease = await createFileLeases(layout, { durable: false }).create({ run, events: initialEvents(run) });
  const history = await past.HistoryFile.open(layout, run, store);
  const scheduler = new scheduling.TurnScheduler(run);
  const scope = { files: FILES, platform: 'unix' };
  let taken = [];
  let started = 0;
  let at = 1_700_000_000_000;
  const take = (signal) => {
    at += 1;
    const applied = withChange(run, step(run, { at, ...signal }));
    taken.push(applied);
    run = applied.step.run;
    scheduler.update(signal, applied);
  };
  const takeTurn = (agent) => {
    const text = ANSWERS[getAgent(run, agent).state];
    take({ kind: 'began', agent, sessionId: '', rules: RULES, warnings: [] });
    take({ kind: 'answered', agent, text, cost: null, denials: [], folders: {}, scope });
    if (text === ANSWERS['DISPATCH.sh']) started += 1;
  };
  return {
    async forkUntil(count) {
      const first = started;
      let ms = 0;
      while (started < count) {
        const begin = performance.now();
        while (taken.length < BATCH) for (const { agent } of scheduler.due()) takeTurn(agent);
        ms += performance.now() - begin;
        await lease.append(taken);
        history.add(taken);
        taken = [];
      }
      await store.snapshot();
      await history.write();
      return {
        stateBytes: statSync(layout.stateFile(run.id)).size,
        journalBytes: statSync(layout.journalFile(run.id)).size,
        usPerTransition: (ms * 1000) / (2 * (started - first)),
      };
    },
    close: () => lease.release(),
  };
}

/** The same with real scripts, a few at a time. */
async function measureRealForks(modules, place, forks) {
  const folder = join(place, 'workflow');
  const fork = '<fork next=\\"START.sh\\">WORKER.sh</fork>';
  const next = `n=$(($(cat count 2>/dev/null || echo 0) + 10)); echo $n > count
if [ $n -gt ${forks} ]; then echo '<result>all are done</result>'; exit; fi
for i in 1 2 3 4 5 6 7 8 9 10; do echo "${fork}"; done\n`;
  mkdirSync(folder);
  writeFileSync(join(folder, 'START.sh'), next);
  writeFileSync(join(folder, 'WORKER.sh'), "echo '<result>done</result>'\n");
  const { runWorkflow } = await import(new URL('index.js', modules));
  const start = performance.now();
  const running = await runWorkflow(folder, { cwd: place });
  const { status, agents, archive } = await running.finished;
  const ms = performance.now() - start;
  const ended = agents.length + (archive?.ended ?? 0);
  if (status !== 'completed' || ended !== forks + 1) throw new Error(`${ended} agents, ${status}`);
  const { size } = statSync(join(place, '.raymond', 'state', `${running.id}.json`));
  return [
    figure(`state file after ${forks.toLocaleString('en')} real workers`, size / 1024, 'KB'),
    figure('each of them', ms / forks, 'ms'),
  ];
}

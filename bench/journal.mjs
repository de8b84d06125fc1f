// How fast a run comes back whose state file knows nothing yet, so that all of it must be read from the journal.
import { copyFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { figure } from './harness.mjs';

const STEPS = 100_000;
const BATCH = 500;
const ROUNDS = 5;
const PORTION = 50 * 1024 * 1024;

export async function measureJournal({ load, workshop, quick }) {
  const { layoutOf } = await load('disk/layout.js');
  const { loadRun } = await load('storage/files/load.js');
  const steps = quick ? STEPS / 10 : STEPS;
  const place = workshop();
  const layout = layoutOf(join(place, '.raymond'));
  const id = await write(load, layout, place, steps);
  const { size } = statSync(layout.journalFile(id));
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now();
    const { run } = await loadRun(layout, id, { cut: false });
    best = Math.min(best, performance.now() - start);
    if (run.seq !== steps) throw new Error(`step ${run.seq} was the last, not ${steps}`);
  }
  return [
    figure(`a journal of ${steps} steps`, size / 1024 / 1024, 'MB'),
    figure('loading 50 MB of it', (best / 1000) * (PORTION / size), 's', 1),
  ];
}

/** Saves the steps of one agent that goes round and round, then takes the state file back to before the first. */
async function write(load, layout, place, steps) {
  const [{ DEFAULT_OPTIONS }, { newRun }, { initialEvents, step }, { withChange }, { createFileLeases }] =
    await Promise.all(
      [
        'core/options/options.js',
        'core/run/run.js',
        'core/step.js',
        'core/run/change.js',
        'storage/files/lease.js',
      ].map(load),
    );
  const workflow = { name: 'bench', path: place, platform: 'unix' };
  const start = { id: 'bench', workflow, startedAt: 0, options: DEFAULT_OPTIONS, cwd: place, input: null };
  let run = newRun({ ...start, state: 'START.sh' });
  const lease = await createFileLeases(layout).create({ run, events: initialEvents(run) });
  const [state, kept] = [layout.stateFile(run.id), join(place, 'kept.json')];
  copyFileSync(state, kept);
  for (let done = 0; done < steps; done += BATCH) {
    const taken = [];
    for (let i = 0; i < BATCH; i += 1) {
      const next = step(run, SIGNALS[run.seq % 2]);
      taken.push(withChange(run, next));
      run = next.run;
    }
    await lease.append(taken);
  }
  await lease.release();
  copyFileSync(kept, state);
  return run.id;
}

const said = { at: 1_700_000_000_000, agent: 'main' };
const SIGNALS = [
  { kind: 'began', ...said, sessionId: '', rules: { policy: [], maxVisits: null }, warnings: [] },
  {
    kind: 'answered',
    ...said,
    text: '<reset>START.sh</reset>',
    cost: null,
    denials: [],
    scope: { files: ['START.sh'], platform: 'unix' },
    folders: {},
  },
];

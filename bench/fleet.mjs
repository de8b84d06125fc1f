// What a fleet does in a second, and what a transition costs with a database instead of files. It needs the PostgreSQL of the tests
// (node test/postgres/install.mjs); without it, nothing is measured.
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'rolldown';
import { figure, gapsOf, median } from './harness.mjs';

const PROGRAMS = fileURLToPath(new URL('../test/postgres/node_modules', import.meta.url));
const SERVER = fileURLToPath(new URL('../test/postgres/server.ts', import.meta.url));
const COMPILED = fileURLToPath(new URL('../node_modules/.cache/bench-postgres.mjs', import.meta.url));
const run = promisify(execFile);

/** Transitions by second, over the file store, and memory. */
export async function measureFleet({ command, modules, workshop, load, quick }) {
  if (!existsSync(PROGRAMS)) return [];
  const [forks, steps, runs] = quick ? [20, 5, 30] : [100, 20, 1000];
  await build({ input: SERVER, platform: 'node', external: ['pg'], output: { file: COMPILED, format: 'esm' } });
  const { PostgresServer } = await import(COMPILED);
  const server = await PostgresServer.start();
  const fleet = new Fleet(
    { server, command, modules, place: workshop() },
    await load('storage/postgres/database.js'),
    await load('cluster/init-database.js'),
  );
  try {
    const chain = await fleet.compare(quick ? 20 : 100);
    const figures = [
      figure('a transition of a script, files', chain.files, 'ms'),
      figure('a transition of a script, database, over that', chain.database - chain.files, 'ms', 10),
    ];
    const hop = await fleet.hop(quick ? 20 : 100);
    figures.push(figure('a hop: a turn on another worker, over that', hop - chain.database, 'ms', 150));
    for (const workers of [1, 3]) {
      const crowd = await fleet.crowd(workers, forks, steps);
      figures.push(
        figure(
          `a transition among ${forks} agents on ${workers} worker${workers > 1 ? 's' : ''}, all of them by second`,
          1000 / crowd.perSecond,
          'ms',
          5,
        ),
        figure(`memory of a worker then, at most`, crowd.peakMb, 'MB'),
      );
    }
    const many = await fleet.many(runs);
    figures.push(figure(`${runs} runs of 3 transitions on 3 workers, by run`, many.ms / runs, 'ms'));
    const wide = await fleet.crowd(1, quick ? 100 : 1000, 1);
    figures.push(
      figure(`one run with ${quick ? 100 : 1000} forked workers, by worker`, wide.ms / (quick ? 100 : 1000), 'ms'),
      figure('memory of its worker at most', wide.peakMb, 'MB'),
    );
    return figures;
  } finally {
    await fleet.close();
    await server.stop();
  }
}

class Fleet {
  children = [];
  folders = 0;

  constructor(parts, { openDatabase }, { initDatabase }) {
    Object.assign(this, parts, { openDatabase, initDatabase });
  }

  /** An empty database with so many workers. */
  async open(workers) {
    await this.close();
    this.database = await this.openDatabase(await this.server.createDatabase());
    await this.initDatabase(this.database);
    this.env = { ...process.env, RAYMOND_DATABASE: this.database.address };
    for (let number = 1; number <= workers; number += 1) await this.startWorker(`w${number}`);
  }

  async startWorker(name, ...options) {
    const args = ['worker', '--name', name, '--folder', join(this.place, `${++this.folders}`), ...options];
    const child = spawn(process.execPath, [this.command, ...args], {
      env: this.env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.children.push(child);
    await new Promise((ready) => child.stderr.on('data', (text) => String(text).includes('ready') && ready()));
  }

  async close() {
    for (const child of this.children.splice(0)) child.kill('SIGKILL');
    await this.database?.close();
    this.database = undefined;
  }

  write(name, states) {
    const folder = join(this.place, name);
    mkdirSync(folder, { recursive: true });
    for (const [file, text] of Object.entries(states)) writeFileSync(join(folder, file), text);
    return folder;
  }

  /** A workflow that goes so often from script to script. */
  writeChain(count) {
    const text =
      'n=$((${RAYMOND_RESULT:-0} + 1)); ' +
      `if [ $n -lt ${count} ]; then echo "<goto input=\\"$n\\">START.sh</goto>"; else echo "<result>$n</result>"; fi\n`;
    return this.write('chain', { 'START.sh': text });
  }

  /** The time of a transition in a run whose agent is at home with another worker than the one that drives it. */
  async hop(count) {
    await this.open(0);
    const args = ['run', this.writeChain(count), '--run-id', 'far', '--quiet', '--label', 'drives=yes'];
    const ended = run(process.execPath, [this.command, ...args], { cwd: this.place, env: this.env });
    let rows = [];
    while (rows.length === 0) rows = await this.database.query('select snapshot from raymond.runs');
    const { parseSavedRun } = await import(new URL('storage/run-schema.js', this.modules));
    const { serializeSavedRun } = await import(new URL('storage/run-file.js', this.modules));
    const saved = parseSavedRun(rows[0].snapshot, 'far');
    const agents = saved.run.agents.map((agent) => ({ ...agent, home: 'home' }));
    const moved = serializeSavedRun({ ...saved, run: { ...saved.run, agents } });
    await this.database.query('update raymond.runs set snapshot = $1', [moved]);
    await this.startWorker('home');
    await this.startWorker('driver', '--label', 'drives=yes');
    await ended;
    const changes = await this.database.query('select change from raymond.journal order by seq');
    return timesOf(changes.map(({ change }) => change));
  }

  /** The time of a transition in one run that goes from script to script, in files and in a database. */
  async compare(count) {
    const folder = this.writeChain(count);
    const here = { cwd: this.place };
    await run(process.execPath, [this.command, 'run', folder, '--run-id', 'files', '--quiet'], here);
    const journal = readFileSync(join(this.place, '.raymond/runs/files/journal.jsonl'), 'utf8').trim().split('\n');
    const files = timesOf(journal);
    await this.open(1);
    await run(process.execPath, [this.command, 'run', folder, '--run-id', 'chain', '--quiet'], {
      ...here,
      env: this.env,
    });
    const rows = await this.database.query('select change from raymond.journal order by seq');
    return { files, database: timesOf(rows.map(({ change }) => change)) };
  }

  /** Runs that fork agents, each of which goes from script to script; one run for each worker. */
  async crowd(workers, agents, steps) {
    const each = Math.ceil(agents / workers);
    const folder = this.write(`crowd-${workers}-${agents}`, {
      'START.sh': `seq ${each} > $RAYMOND_RUN_FOLDER/items; echo "<fork-each in='$RAYMOND_RUN_FOLDER/items'>STEP.sh</fork-each><join>END.sh</join>"\n`,
      'STEP.sh':
        'n=$((${RAYMOND_RESULT:-0} + 1)); ' +
        `if [ $n -lt ${steps} ]; then echo "<goto input=\\"$n\\">STEP.sh</goto>"; else echo "<result>$n</result>"; fi\n`,
      'END.sh': "echo '<result>all</result>'\n",
    });
    await this.open(workers);
    const start = performance.now();
    const args = (number) => [this.command, 'run', folder, '--run-id', `crowd-${number}`, '--quiet'];
    await Promise.all(
      this.children.map((_, number) =>
        run(process.execPath, args(number), { cwd: this.place, env: this.env, maxBuffer: 1e8 }),
      ),
    );
    const ms = performance.now() - start;
    const rows = await this.database.query(`select change from raymond.journal where change like '%"turn_ended"%'`);
    const times = rows.map(({ change }) => endOf(change)).sort((a, b) => a - b);
    const perSecond = ((times.length - 1) * 1000) / (times.at(-1) - times[0]);
    const peaks = this.children.map(
      ({ pid }) => /VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1],
    );
    return { ms, perSecond, peakMb: Math.max(...peaks.map(Number)) / 1024 };
  }

  /** So many runs at once, each of three transitions, on three workers; they are put into the database first. */
  async many(runs) {
    const folder = this.write('three', {
      'START.sh': "echo '<goto>B.sh</goto>'\n",
      'B.sh': "echo '<goto>C.sh</goto>'\n",
      'C.sh': "echo '<result>done</result>'\n",
    });
    await this.open(3);
    const { openDatabaseRuns } = await import(new URL('fleet/database-runs.js', this.modules));
    const place = await openDatabaseRuns(this.database.address);
    const start = performance.now();
    for (let number = 1; number <= runs; number += 1) {
      const handle = await place.start(folder, { cwd: this.place, labels: [], runId: `run-${number}`, env: this.env });
      handle.finished.catch(() => {});
      handle.stop();
    }
    for (;;) {
      const [row] = await this.database.query(
        `select count(*)::integer as left from raymond.runs where status = 'running'`,
      );
      if (row.left === 0) break;
      await sleep(100);
    }
    const ms = performance.now() - start;
    const [row] = await this.database.query(
      `select count(*)::integer as good from raymond.runs where status = 'completed'`,
    );
    await place.close();
    if (row.good !== runs) throw new Error(`${row.good} of ${runs} runs are completed`);
    return { ms };
  }
}

/** When a turn ended; undefined for a line of a journal in which none did. */
const endOf = (line) => JSON.parse(line).events.find(({ kind }) => kind === 'turn_ended')?.at;

/** The median of the times between the ends of turns. */
const timesOf = (lines) => median(gapsOf(lines.map(endOf).filter((at) => at !== undefined)));

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { initDatabase } from '../src/cluster/init-database.ts';
import { type Database, openDatabase } from '../src/storage/postgres/database.ts';
import { loadRunRows } from '../src/storage/postgres/run-rows.ts';
import { serializeSavedRun } from '../src/storage/run-file.ts';
import { parseSavedRun } from '../src/storage/run-schema.ts';
import { type MessagesApi, startMessagesApi } from '../test/messages-api/server.ts';
import type { PostgresServer } from '../test/postgres/server.ts';
import { writeCloneWorkflow, writeFleetWorkflow } from './fleet-workflow.ts';
import { newModel, type Pace } from './model.ts';
import { kill, processesOf } from './processes.ts';
import type { Random } from './random.ts';
import type { Command, CommandEnd, Rig } from './rig.ts';
import { ANSWER, sharedIn, writeWorkflow } from './workflow.ts';

/** The shared parts of all rounds: the built command, a Claude Code, a server, and a folder for everything. */
export interface FleetEnvironment {
  readonly raymond: string;
  readonly claude: string | null;
  readonly server: PostgresServer;
  readonly folder: string;
  readonly pace: Pace;
}

/** What differs from one round to the next: how workers that are gone are dealt with; undefined if none is gone for long. */
export interface FleetSettings {
  readonly random: Random;
  readonly lost?: 'wait' | 'rehome' | undefined;
}

/** Short, so that a worker is soon taken for gone; each must have been there for as long before it judges others. */
const LOST_DEADLINE = '3 seconds';
const LONGEST_WAIT_MS = 30_000;

/** A label that no worker has. */
const NOBODY = 'nobody=yes';

/** A worker: the process that has its name now, and all that its processes have said. */
export interface TorturedWorker {
  readonly name: string;
  child: ChildProcess;
  said: string;
  /** How often it has ended by itself, which it should not. */
  ends: number;
}

/** The workers of a round, and its runs. */
export class FleetRig {
  readonly workers: TorturedWorker[] = [];
  readonly rigs: Rig[] = [];
  readonly database: Database;
  readonly root: string;
  private readonly environment: FleetEnvironment;
  private readonly api: MessagesApi;
  private readonly env: NodeJS.ProcessEnv;
  private readonly lost: FleetSettings['lost'];
  private isOver = false;

  private constructor(
    environment: FleetEnvironment,
    root: string,
    database: Database,
    api: MessagesApi,
    lost: FleetSettings['lost'],
  ) {
    this.environment = environment;
    this.lost = lost;
    this.root = root;
    this.database = database;
    this.api = api;
    this.env = {
      PATH: process.env.PATH,
      HOME: join(root, 'home'),
      TMPDIR: join(root, 'tmp'),
      CLAUDE_CODE_TMPDIR: join(root, 'tmp'),
      ANTHROPIC_BASE_URL: api.url,
      ANTHROPIC_API_KEY: 'made-up',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      RAYMOND_DATABASE: database.address,
    };
  }

  /** Makes a database of its own and starts workers, all at the same moment. */
  static async open(
    environment: FleetEnvironment,
    names: readonly string[],
    { random, lost }: FleetSettings,
    keepConnections = 4,
  ): Promise<FleetRig> {
    const root = await mkdtemp(join(environment.folder, 'round-'));
    for (const folder of ['home', 'tmp']) await mkdir(join(root, folder));
    const database = await openDatabase(await environment.server.createDatabase(), keepConnections);
    await initDatabase(database);
    if (lost !== undefined) await database.query(`update raymond.about set worker_deadline = '${LOST_DEADLINE}'`);
    const api = await startMessagesApi(newModel(random, environment.pace));
    const fleet = new FleetRig(environment, root, database, api, lost);
    for (const name of names) fleet.workers.push({ name, child: fleet.spawnWorker(name), said: '', ends: 0 });
    for (const worker of fleet.workers) fleet.listen(worker);
    return fleet;
  }

  /** Waits until a worker that is gone has no runs any more, because they were given to others; not forever, because those may be gone, too. */
  async isGivenUp({ name }: TorturedWorker): Promise<void> {
    for (const givesUpAt = Date.now() + LONGEST_WAIT_MS; Date.now() < givesUpAt && !this.isOver; await delay(100)) {
      const rows = await this.database
        .query(
          `select 1 from raymond.nodes, raymond.about where name = $1 and heartbeat_at < now() - worker_deadline
           and not exists (select 1 from raymond.runs where driver = $1 and status = 'running')`,
          [name],
        )
        .catch(() => []);
      if (rows.length > 0) return;
    }
  }

  /** A worker that drives a run just now; any other if there is none. */
  async chooseDriver(random: Random): Promise<TorturedWorker | undefined> {
    const drawn = random.next();
    const rows = await this.database
      .query<{ driver: string }>(`select driver from raymond.runs where status = 'running' order by id`)
      .catch(() => []);
    const driver = rows[Math.floor(drawn * rows.length)]?.driver;
    return this.workers.find(({ name }) => name === driver) ?? this.workers[Math.floor(drawn * this.workers.length)];
  }

  /** Starts a worker again under its name, whoever has it now. */
  restart(worker: TorturedWorker): void {
    worker.child = this.spawnWorker(worker.name);
    this.listen(worker);
  }

  private spawnWorker(name: string): ChildProcess {
    const args = ['worker', '--name', name, '--slots', '3', '--folder', join(this.root, 'workers', name)];
    return spawn(process.execPath, [this.environment.raymond, ...args], {
      cwd: this.root,
      env: this.env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  }

  private listen(worker: TorturedWorker): void {
    const { child } = worker;
    child.stderr?.on('data', (piece) => {
      worker.said += piece;
    });
    child.once('close', (code) => {
      if (code === null || this.isOver || worker.child !== child) return;
      worker.ends += 1;
      this.restart(worker);
    });
  }

  /** A run of canned answers and scripts, with a question that is answered while the run waits. */
  async addCanned(id: string, isSpread: boolean): Promise<Rig> {
    const workflow = join(this.root, `${id}-workflow`);
    await writeFleetWorkflow(workflow);
    const agent = `replay:${join(workflow, 'answers.yaml')}`;
    const spread = isSpread ? ['--label', NOBODY] : [];
    return this.add(id, workflow, ['--agent', agent, '--on-ask', 'wait', ...spread], {
      requests: [],
      chargedUsd: () => 0,
    });
  }

  /** Assigns the agents of some runs to a node that need not be the one that drives them; then the runs are driven. */
  async spreadRuns(random: Random): Promise<void> {
    const rows = await this.database.query<{ id: string; snapshot: string }>(
      'select id, snapshot from raymond.runs where labels @> $1',
      [[NOBODY]],
    );
    for (const { id, snapshot } of rows) {
      const saved = parseSavedRun(snapshot, id);
      const node = this.workers[Math.floor(random.next() * this.workers.length)]?.name ?? null;
      const agents = saved.run.agents.map((agent) => ({ ...agent, node }));
      const text = serializeSavedRun({ ...saved, run: { ...saved.run, agents } });
      await this.database.query(`update raymond.runs set labels = '{}', snapshot = $2 where id = $1`, [id, text]);
    }
  }

  /** A run of scripts in a clone, whose agents are spread over the workers. */
  async addClone(id: string): Promise<Rig> {
    const workflow = join(this.root, `${id}-workflow`);
    await writeCloneWorkflow(workflow, join(this.root, id));
    const remote = join(this.root, `${id}.git`);
    const git = (...args: readonly string[]): unknown => execFileSync('git', args, { env: this.env, stdio: 'ignore' });
    git('init', '--bare', '--initial-branch=main', remote);
    const tree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
    const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
    git('-C', remote, 'hash-object', '-t', 'tree', '-w', '/dev/null');
    const made = execFileSync('git', ['-C', remote, ...author, 'commit-tree', '-m', 'first', tree], { env: this.env });
    git('-C', remote, 'update-ref', 'refs/heads/main', made.toString().trim());
    return this.add(id, workflow, ['--workspace', remote], { requests: [], chargedUsd: () => 0 });
  }

  /** A run of the real Claude Code, which ends at its question and is resumed. */
  async addClaude(id: string, claude: string, isSpread: boolean): Promise<Rig> {
    const workflow = join(this.root, `${id}-workflow`, 'main');
    const shared = join(this.root, id, 'shared');
    await mkdir(shared, { recursive: true });
    // The folders of the run and of its agents stay behind if an agent continues elsewhere.
    await writeWorkflow(workflow, join(this.root, id), this.lost === 'rehome' ? sharedIn(shared) : undefined);
    const options = ['--claude', claude, '--budget', '100', '--retries', '50', '--on-ask', 'exit'];
    return this.add(id, workflow, isSpread ? [...options, '--label', NOBODY] : options, this.api);
  }

  private async add(id: string, workflow: string, runOptions: readonly string[], api: Rig['api']): Promise<Rig> {
    const cwd = join(this.root, id);
    await mkdir(cwd, { recursive: true });
    // With a budget, a run whose first turn is lost stops: that turn may have cost all of it.
    const withoutBudget = this.lost === 'rehome' ? ['--budget', '0'] : [];
    const whenLost = this.lost === undefined ? [] : ['--when-lost', this.lost, ...withoutBudget];
    const rig: Rig = {
      id,
      cwd,
      workflow,
      api,
      command: (args, options = args[0] === 'run' ? runOptions : []) =>
        this.command(cwd, [...args, ...(options ?? []), ...(args[0] === 'run' ? whenLost : [])]),
      // Once a run was followed, it is in the database, which may be away just now.
      traces: () =>
        this.database.retryUntilReachable(async () => {
          const rows = await this.database.query<{ change: string }>(
            'select change from raymond.journal where run = $1 order by seq',
            [id],
          );
          const { run } = await loadRunRows(this.database, id);
          const folders = this.workers.map(({ name }) =>
            join(this.root, 'workers', name, '.raymond/runs', id, 'turns'),
          );
          return {
            journal: rows.map(({ change }) => `${change}\n`).join(''),
            state: { seq: run.seq, ledger: run.ledger },
            turns: folders.filter(existsSync),
          };
        }),
      close: async () => {},
    };
    this.rigs.push(rig);
    return rig;
  }

  /** A command that is begun again for as long as the database is away. */
  private command(cwd: string, args: readonly string[]): Command {
    const start = (): Command => {
      const child = spawn(process.execPath, [this.environment.raymond, ...args], {
        cwd,
        env: this.env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let [stdout, stderr] = ['', ''];
      child.stdout.on('data', (piece) => {
        stdout += piece;
      });
      child.stderr.on('data', (piece) => {
        stderr += piece;
      });
      const ended = new Promise<CommandEnd>((done) => {
        child.once('close', (code) => done({ code, stdout, stderr }));
      });
      return { child, ended };
    };
    const first = start();
    const again = async (end: CommandEnd): Promise<CommandEnd> => {
      if (this.isOver || end.code === 0 || !/cannot be reached/.test(end.stderr.split('\n').at(-3) ?? end.stderr))
        return end;
      await delay(300);
      return again(await start().ended);
    };
    return { child: first.child, ended: first.ended.then(again) };
  }

  /** Answers the question of a run as soon as it is asked, unless the run ends before. */
  async answerWhenAsked(rig: Rig, over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      await delay(200, undefined, { signal: over }).catch(() => {});
      const asked = await this.database
        .query(`select 1 from raymond.journal where run = $1 and change like '%"kind":"asked"%' limit 1`, [rig.id])
        .catch(() => []);
      if (asked.length === 0) continue;
      const { code } = await rig.command(['answer', rig.id, ANSWER]).ended;
      if (code === 0) return;
    }
  }

  /** Puts what is in the database of a round, and what its workers have said, beside their files. */
  async keepTraces(): Promise<void> {
    for (const { name, said } of this.workers) await writeFile(join(this.root, `${name}.said`), said);
    for (const table of ['runs', 'journal', 'remote_turns', 'nodes']) {
      const rows = await this.database.query(`select * from raymond.${table} order by 1, 2`);
      await writeFile(join(this.root, `${table}.jsonl`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    }
  }

  async close(keep: boolean): Promise<void> {
    this.isOver = true;
    if (keep) await this.keepTraces().catch(() => {});
    for (const { child } of this.workers) child.kill('SIGKILL');
    for (const { id } of this.rigs) for (const { pid } of processesOf(id)) kill(pid);
    await this.api.close();
    await this.database.close();
    if (!keep) await rm(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}

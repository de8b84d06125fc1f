import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { runCli } from '../../src/cli/program.ts';
import { initDatabase } from '../../src/cluster/init-database.ts';
import { type Database, openDatabase } from '../../src/storage/postgres/database.ts';
import { serializeSavedRun } from '../../src/storage/run-file.ts';
import { parseSavedRun } from '../../src/storage/run-schema.ts';
import { checkPrinted } from '../documents/check-documents.ts';
import type { MessagesApi } from '../messages-api/server.ts';
import type { PostgresServer } from '../postgres/server.ts';

const RAYMOND = join(import.meta.dirname, '../../dist/raymond.js');

/** Waits for the file `open`; in vain once the test has removed its folder, in which `trace` is. */
export const WAIT_FOR_OPEN = 'while [ ! -e open ] && [ -e trace ]; do sleep 0.05; done';

/** A workflow whose first script waits for the file `open`. */
export const GATE = {
  'gate/START.sh': `#!/bin/bash\necho start >> trace\n${WAIT_FOR_OPEN}\necho "<goto>AFTER.sh</goto>"\n`,
  'gate/AFTER.sh': '#!/bin/bash\necho after >> trace\necho "<result>through</result>"\n',
};

/** How a command ended. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A process of the built command. */
export class Command {
  out = '';
  err = '';
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;

  constructor(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv) {
    const child = spawn(process.execPath, [RAYMOND, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child = child;
    child.stdout.on('data', (chunk) => {
      this.out += chunk;
    });
    child.stderr.on('data', (chunk) => {
      this.err += chunk;
    });
    this.ended = once(child, 'close').then(([code]) => ({ code, out: this.out, err: this.err }));
  }

  /** Waits until it has said this on stderr. */
  async says(text: string): Promise<void> {
    while (!this.err.includes(text)) {
      if (this.child.exitCode !== null || this.child.signalCode !== null)
        throw new Error(`it has ended and never said "${text}":\n${this.err}`);
      await new Promise((next) => setTimeout(next, 20));
    }
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<Ended> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill(signal);
    return this.ended;
  }
}

/** A database with its workers, and a folder for all of them. */
export class Fleet {
  readonly folder: string;
  readonly address: string;
  readonly database: Database;
  private readonly commands: Command[] = [];

  private constructor(folder: string, database: Database) {
    this.folder = folder;
    this.database = database;
    this.address = database.address;
  }

  static async open(server: PostgresServer): Promise<Fleet> {
    const database = await openDatabase(await server.createDatabase(await prepareTemplate(server)));
    return new Fleet(mkdtempSync(join(tmpdir(), 'raymond-fleet-')), database);
  }

  /** Writes files below the folder of the fleet; those that end in .sh can be run. */
  write(files: Readonly<Record<string, string>>): void {
    for (const [name, content] of Object.entries(files)) {
      const path = join(this.folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content, { mode: name.endsWith('.sh') ? 0o755 : 0o644 });
    }
  }

  /** Starts a command on the database. */
  start(args: readonly string[], env: NodeJS.ProcessEnv = {}): Command {
    const command = new Command(args, this.folder, { ...process.env, RAYMOND_DATABASE: this.address, ...env });
    this.commands.push(command);
    return command;
  }

  /** Runs a command on the database to its end, in this process, which takes less time. */
  run = async (...args: readonly string[]): Promise<Ended> => {
    let [out, err] = ['', ''];
    const code = await runCli(args, {
      out: (text) => {
        out += text;
      },
      err: (text) => {
        err += text;
      },
      cwd: this.folder,
      env: { ...process.env, RAYMOND_DATABASE: this.address, RAYMOND_REPLAY: 'fast' },
      screen: null,
      onInterrupt: () => () => {},
    });
    checkPrinted(args, out);
    return { code, out, err };
  };

  /** Starts a worker and waits until it is ready. */
  async worker(name: string, ...args: readonly string[]): Promise<Command> {
    const worker = this.start(['node', '--name', name, '--folder', join(this.folder, 'workers', name), ...args]);
    await worker.says('is ready');
    return worker;
  }

  /** Starts a worker with a home of its own, as on another machine, whose Claude Code asks this API. */
  async claudeWorker(api: MessagesApi, name: string, ...args: readonly string[]): Promise<Command> {
    const home = join(this.folder, 'homes', name);
    mkdirSync(home, { recursive: true });
    const worker = this.start(['node', '--name', name, '--folder', join(this.folder, 'workers', name), ...args], {
      HOME: home,
      TMPDIR: home,
      CLAUDE_CODE_TMPDIR: home,
      ANTHROPIC_BASE_URL: api.url,
      ANTHROPIC_API_KEY: 'made-up',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    });
    await worker.says('is ready');
    return worker;
  }

  /** Lets the agents of a run that nobody drives yet be at home with a worker. */
  async setHome(run: string, home: string): Promise<void> {
    const find = () =>
      this.database.query<{ snapshot: string }>('select snapshot from raymond.runs where id = $1', [run]);
    let [row] = await find();
    for (; row === undefined; [row] = await find()) await new Promise((next) => setTimeout(next, 20));
    const saved = parseSavedRun(row.snapshot, run);
    const agents = saved.run.agents.map((agent) => ({ ...agent, node: home }));
    const text = serializeSavedRun({ ...saved, run: { ...saved.run, agents } });
    await this.database.query('update raymond.runs set snapshot = $2 where id = $1', [run, text]);
  }

  async close(): Promise<void> {
    for (const command of this.commands) await command.kill();
    await this.database.close();
    // A Claude Code whose worker was killed may still write to its home while it ends.
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 15, retryDelay: 200 });
  }
}

const templates = new WeakMap<PostgresServer, Promise<string>>();

/** A database that is prepared once for a server: the others are copies of it. */
function prepareTemplate(server: PostgresServer): Promise<string> {
  const prepared = templates.get(server) ?? prepare(server);
  templates.set(server, prepared);
  return prepared;
}

async function prepare(server: PostgresServer): Promise<string> {
  const address = await server.createDatabase();
  const database = await openDatabase(address);
  await initDatabase(database);
  await database.close();
  return new URL(address).pathname.slice(1);
}

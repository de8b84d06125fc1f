import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test as base, expect } from 'vitest';
import { type ResumeRequest, resumeRun } from '../../src/app/resume.ts';
import { readRunEvents } from '../../src/app/run-files.ts';
import { type RunRequest, runWorkflow } from '../../src/app/start.ts';
import type { Options } from '../../src/core/options/options.ts';
import type { Agent } from '../../src/core/run/agent.ts';
import type { Event } from '../../src/core/run/event.ts';
import type { Run } from '../../src/core/run/run.ts';
import { formatEvent } from '../../src/render/format.ts';
import type { RunHandle } from '../../src/wiring/run-handle.ts';
import { eventually } from '../process/turns.ts';
import { storageIn } from '../storage/files/open-files.ts';

/** A call of the fake, as recorded by itself. */
export interface Call {
  readonly args: readonly string[];
  /** Only the beginning. */
  readonly prompt: string;
  readonly size: number;
  readonly env: Readonly<Record<string, string>>;
}

/** A finished run with its events. */
export interface FinishedRun {
  readonly run: Run;
  readonly main: Agent;
  readonly events: readonly Event[];
  readonly calls: readonly Call[];
}

/** The working directory, home and fake Claude Code of one test. */
export interface Rig {
  readonly cwd: string;
  readonly home: string;
  readonly claude: string;
  readonly env: Readonly<Record<string, string>>;
  /** Installs the fake again. */
  install(): void;
  /** Runs these states to the end; `also` acts on events as they come. */
  run(files: Readonly<Record<string, string>>, options?: Partial<Options>, also?: Also): Promise<FinishedRun>;
  resume(finished: FinishedRun, request?: ResumeRequest): Promise<FinishedRun>;
  /** Calls back as soon as the fake has reached a mark. */
  onceMarked(mark: string, act: () => void): void;
  /** The remaining processes of this rig's runs. */
  left(): readonly number[];
  /** Ends the remaining processes. */
  endLeft(): void;
}

type Also = Omit<RunRequest, 'options' | 'observe'> & {
  readonly onEvent?: (event: Event, running: () => RunHandle) => void;
};

/** A test with a rig. It fails if it leaves a process behind. */
export const test = base.extend<{ rig: Rig }>({
  rig: async ({ task: _ }, use) => {
    // Files in memory are fast; programs may not be run from there everywhere.
    const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'raymond-hostile-'));
    const bin = mkdtempSync(join(tmpdir(), 'raymond-hostile-'));
    const rig = newRig(root, bin);
    try {
      await use(rig);
      await eventually('the end of every process', () => rig.left().length === 0);
    } finally {
      rig.endLeft();
      for (const folder of [root, bin]) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  },
});

export { describe, expect } from 'vitest';

function newRig(root: string, bin: string): Rig {
  const cwd = join(root, 'work');
  const home = join(root, 'home');
  for (const folder of [cwd, home]) mkdirSync(folder);
  const claude = join(bin, 'claude.mjs');
  const install = (): void => {
    copyFileSync(join(import.meta.dirname, 'claude.mjs'), claude);
    chmodSync(claude, 0o755);
  };
  install();
  writeFileSync(join(bin, 'version'), '2.1.325');
  const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: home };
  const runs = new Set<string>();

  const finish = async (begin: (observe: (event: Event) => void) => Promise<RunHandle>): Promise<FinishedRun> => {
    const events: Event[] = [];
    const running = await begin((event) => events.push(event));
    runs.add(running.id);
    const run = await running.finished;
    const main = run.agents[0];
    if (main === undefined) throw new Error('a run without agents');
    return { run, main, events, calls: callsIn(home) };
  };

  return {
    cwd,
    home,
    claude,
    env,
    install,
    async run(files, options = {}, { onEvent, ...also } = {}) {
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(cwd, 'flow', name)), { recursive: true });
        writeFileSync(join(cwd, 'flow', name), text);
      }
      let running: RunHandle | undefined;
      const now = (): RunHandle => {
        if (running === undefined) throw new Error('it does not run yet');
        return running;
      };
      const finished = await finish(async (observe) => {
        const request = { cwd, env, ...also, options: { claude, ...options } };
        running = await runWorkflow('flow', {
          ...request,
          observe(event) {
            observe(event);
            onEvent?.(event, now);
          },
        });
        return running;
      });
      // Observers get exactly the events that are on disk.
      if (existsSync(join(cwd, '.raymond', 'runs', finished.run.id))) {
        expect(await readRunEvents(finished.run.id, storageIn(cwd))).toStrictEqual(finished.events);
      }
      return finished;
    },
    resume: ({ run }, request = {}) =>
      finish((observe) => resumeRun(run.id, { cwd, env, acceptChangedCode: true, ...request, observe })),
    onceMarked: (mark, act) => void eventually(mark, () => existsSync(join(home, mark))).then(act),
    left: () => [...runs].flatMap(processesOf),
    endLeft() {
      for (const pid of [...runs].flatMap(processesOf)) process.kill(pid, 'SIGKILL');
    },
  };
}

/** Finds processes with the marker of a run, without the code under test. */
function processesOf(run: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => environmentOf(pid).some((pair) => pair.startsWith(`RAYMOND_TURN=${run}/`)))
    .map(Number);
}

function environmentOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

function callsIn(home: string): readonly Call[] {
  const file = join(home, 'calls.jsonl');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  return lines.map((line) => JSON.parse(line) as Call);
}

/** The events of one kind, in order. */
export const eventsOf = <Kind extends Event['kind']>(
  { events }: FinishedRun,
  kind: Kind,
): readonly Extract<Event, { kind: Kind }>[] =>
  events.filter((event): event is Extract<Event, { kind: Kind }> => event.kind === kind);

/** The value of an option of a call. */
export const argument = ({ args }: Call, name: string): string | undefined =>
  args.includes(name) ? args[args.indexOf(name) + 1] : undefined;

/** The log that the user sees. */
export const logOf = ({ events }: FinishedRun): string =>
  events.flatMap((event) => formatEvent(event) ?? []).join('\n');

/** The failures of the turns in order; `null` is success. */
export const failures = (finished: FinishedRun): readonly (string | null)[] =>
  eventsOf(finished, 'turn_ended').map(({ failure }) => failure);

/** The result of the run, which must have completed. */
export function resultOf(finished: FinishedRun): string {
  const { run, main } = finished;
  expect([run.status, main.phase.kind]).toStrictEqual(['completed', 'ended']);
  return main.phase.kind === 'ended' ? main.phase.result : '';
}

/** Expects that a failure left the agent in its state, with a message for the user. */
export function expectStuck(finished: FinishedRun, status: Run['status'], ...patterns: readonly RegExp[]): void {
  expect([finished.run.status, finished.main.state]).toStrictEqual([status, 'START.md']);
  expect(eventsOf(finished, 'transition')).toStrictEqual([]);
  expect(eventsOf(finished, 'run_ended').at(-1)).toMatchObject({ status });
  for (const pattern of patterns) expect(logOf(finished)).toMatch(pattern);
  const { phase } = finished.main;
  if (phase.kind === 'failed' || phase.kind === 'paused')
    expect(phase.message).toMatch(/^(START\.md: )?[A-Z][^\n]*[.)]$/);
}

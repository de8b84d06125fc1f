import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readRunEvents } from '../../src/app/run-files.ts';
import type { Options } from '../../src/core/options/options.ts';
import type { Event } from '../../src/core/run/event.ts';
import { microsToUsd } from '../../src/core/run/ledger.ts';
import type { Run } from '../../src/core/run/run.ts';
import { turnRefOf } from '../../src/core/turns/due.ts';
import { layoutOf } from '../../src/disk/layout.ts';
import type { World } from '../../src/engine/world.ts';
import type { PeopleAnswers } from '../../src/scenario/asks.ts';
import type { CannedAnswer, Scenario, StateAnswers } from '../../src/scenario/scenario.ts';
import { People } from '../../src/testing/people.ts';
import {
  type SimulatedProcess,
  type SimulationSetup,
  startSimulatedProcess,
} from '../../src/testing/simulated-process.ts';
import type { RunHandle } from '../../src/wiring/run-handle.ts';
import { openWorkflow } from '../../src/workflow/workflow.ts';
import { type AnswerDef, type Case, type CrashDef, fullName, type StopDef } from './case.ts';
import { CaseDatabase, keepInFiles } from './case-storage.ts';
import type { Observation } from './observation.ts';
import { formatAnswer, writeWorkflows } from './write-case.ts';

/** The id of every generated run. */
export const RUN_ID = 'combined';

/** What became of a case. */
export interface Outcome {
  /** Its folder, which is gone by now; paths in it are the same in the model. */
  readonly folder: string;
  readonly observations: readonly Observation[];
  readonly run: Run;
  readonly crashes: number;
  /** The files of results of joins, by their paths. */
  readonly resultFiles: ReadonlyMap<string, unknown>;
}

/** However a case continues, it is over then. */
const MAX_PROCESSES = 60;
const MAX_SILENT_MS = 60_000;

/** Runs a case to its end in this process, resuming it after crashes and as often as a resume changes something. */
export async function runCase(subject: Case): Promise<Outcome> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'raymond-mix-')));
  try {
    return await runIn(folder, subject);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function runIn(folder: string, subject: Case): Promise<Outcome> {
  const path = writeWorkflows(subject, join(folder, 'workflows'));
  const project = join(folder, 'project');
  mkdirSync(join(project, 'sub'), { recursive: true });
  addFiles(project, subject.files);
  if (subject.usesGit) addRepository(project);
  const origin = join(folder, 'origin');
  if (subject.usesWorkspace) {
    mkdirSync(origin);
    addRepository(origin);
  }
  mkdirSync(join(project, '.raymond'));
  const workflow = await openWorkflow(path, 'unix', { root: join(folder, 'workflows') });
  const place = subject.usesDatabase ? await database.keep(project) : keepInFiles(project);
  const people = new People(asksOf(subject), place.requests, RUN_ID);
  const errors: string[] = [];
  const setup: SimulationSetup = {
    workflow,
    people,
    scenario: scenarioOf(subject),
    onAnswerUsed: () => {},
    onScenarioError: (message) => errors.push(message),
  };
  const crashes = new Points(subject.crashes);
  const options: Partial<Options> = {
    agent: 'replay:case',
    root: join(folder, 'workflows'),
    parallel: subject.parallel,
    variables: subject.vars,
    maxIterations: subject.maxIterations,
    slowAt: subject.slowAt,
    reserve: subject.reserve,
    wait: subject.waits,
    // Files that answers name stay in the project while its agents work in a clone.
    ...(subject.usesWorkspace && { workspace: origin, allowCd: [project] }),
    ...(subject.budget !== null && { budgetMicros: subject.budget }),
  };
  const env = { ...process.env, RAYMOND_REPLAY: '', XDG_STATE_HOME: join(folder, 'state'), XDG_CONFIG_HOME: folder };
  const location = { cwd: project, env };
  const patience = new RetryLimits(subject);
  const stops = new Points(subject.stops);
  const gitWork = new GitWork();
  const preferences = new Map<string, unknown>();
  let handle: RunHandle | undefined;
  const start = (number: number, ahead: number): SimulatedProcess => {
    const simulated = startSimulatedProcess(setup, number, ahead);
    const wrap = simulated.runtime.wrapWorld;
    const wrapWorld: typeof wrap = (world, ...rest) => {
      const stop = async ({ how }: StopDef): Promise<void> => {
        if (how === 'kill') handle?.kill();
        else handle?.stop(how === 'stop' ? 'stopped' : 'interrupted');
      };
      const wrapped = stops.wrap(crashes.wrap(gitWork.wrap(wrap(world, ...rest)), simulated.crash), stop);
      const take = interrupting(wrapped.take, subject, (agent, words) =>
        simulated.time.whileRunning(async () => handle?.interrupt(agent, words)),
      );
      return {
        ...wrapped,
        take: (turn) => {
          if (turn.kind === 'claude') preferences.set(`${turn.agent}/${turn.number}`, turn.preference);
          return take(turn);
        },
      };
    };
    const isSandbox = !subject.usesGit && !subject.usesWorkspace;
    return { ...simulated, runtime: { ...simulated.runtime, wrapWorld, isSandbox } };
  };
  let simulated = start(1, 0);
  let last: { readonly resume: ResumeChange; readonly resumes: number } = { resume: {}, resumes: -1 };
  const input = subject.input === null ? {} : { input: subject.input };
  handle = await place.start(path, { options, runId: RUN_ID, ...input, ...location }, simulated.runtime);
  let watchdog: NodeJS.Timeout | undefined;
  const hung = new Promise<never>((_, reject) => {
    let seen = -1;
    // On a busy machine a case may take long: it hangs if nothing happens, and it does not wait for git.
    watchdog = setInterval(async () => {
      const events = await readRunEvents(RUN_ID, place.storage);
      if (events.length > seen || gitWork.isUnderWay) {
        seen = events.length;
        return;
      }
      const last = events.filter(({ kind }) => kind !== 'warning').slice(-10);
      const words = last.map((event) => JSON.stringify(event)).join('\n');
      reject(new Error(`nothing has happened for ${MAX_SILENT_MS} ms; the last events are\n${words}`));
    }, MAX_SILENT_MS);
  });
  try {
    for (let count = 1; ; count += 1) {
      const outcome = await Promise.race([handle.finished, simulated.crashed, hung]);
      const answeredAt = outcome === 'crashed' ? null : await people.answerNext(outcome);
      const events = await readRunEvents(RUN_ID, place.storage);
      const resumes = events.filter(({ kind }) => kind === 'run_resumed').length;
      // A command that a crash has swallowed is given once more.
      const next = outcome === 'crashed' ? (resumes === last.resumes ? last.resume : {}) : patience.resumeOf(outcome);
      const resume = answeredAt === null ? next : {};
      if (resume === null || count === MAX_PROCESSES) {
        if (outcome === 'crashed') throw new Error('it crashes forever');
        if (errors.length > 0) throw new Error(`the case lacks answers: ${errors.join('; ')}`);
        const resultFiles = readResultFiles(join(project, '.raymond', 'tasks', RUN_ID, 'shared', 'results'));
        return {
          folder,
          run: outcome,
          crashes: crashes.count,
          resultFiles,
          observations: observe(events, project, preferences),
        };
      }
      await gitWork.ended();
      const ends = events.filter(({ kind }) => kind === 'run_ended');
      last = { resume, resumes };
      if (ends.some((event) => 'status' in event && event.status === 'paused')) addFiles(project, subject.lateFiles);
      const ahead = Math.max(simulated.time.ahead, (answeredAt ?? 0) - Date.now());
      simulated = start(count + 1, ahead);
      handle = await place.resume(RUN_ID, { ...location, ...resume }, simulated.runtime);
    }
  } finally {
    clearInterval(watchdog);
  }
}

function readResultFiles(folder: string): ReadonlyMap<string, unknown> {
  if (!existsSync(folder)) return new Map();
  const paths = readdirSync(folder).map((name) => join(folder, name));
  return new Map(paths.map((path) => [path, JSON.parse(readFileSync(path, 'utf8'))]));
}

/** Puts the texts of prompts and the files of results beside the events that they belong to. */
function observe(
  events: readonly Event[],
  project: string,
  preferences: ReadonlyMap<string, unknown>,
): readonly Observation[] {
  const layout = layoutOf(join(project, '.raymond'));
  const read = (file: string): string | null => {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return null;
    }
  };
  return events.map((event): Observation => {
    if (event.kind !== 'turn_started') return event as unknown as Observation;
    const text = read(join(layout.turnFolder(RUN_ID, turnRefOf(event)), 'stdin'));
    return { ...event, text, preference: preferences.get(`${event.agent}/${event.turn}`) ?? null };
  });
}

function addFiles(project: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(project, name);
    mkdirSync(name.endsWith('/') ? path : dirname(path), { recursive: true });
    if (!name.endsWith('/')) writeFileSync(path, text);
  }
}

/** Makes a git repository of a folder, with a commit that has `sub/`: a copy of one that is made once. */
function addRepository(folder: string): void {
  template ??= makeTemplate();
  cpSync(template, folder, { recursive: true });
}

let template: string | undefined;
const database = new CaseDatabase();

/** Removes what all cases have shared. */
export async function removeShared(): Promise<void> {
  if (template !== undefined) rmSync(template, { recursive: true, force: true });
  template = undefined;
  await database.close();
}

function makeTemplate(): string {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-mix-git-'));
  const git = (...args: readonly string[]): void => {
    execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args]);
  };
  mkdirSync(join(folder, 'sub'));
  writeFileSync(join(folder, 'sub', 'committed.txt'), 'committed');
  writeFileSync(join(folder, '.gitignore'), '.raymond\n');
  git('init', '--quiet', '--template=', '--initial-branch=main');
  git('add', '--all');
  git('commit', '--quiet', '-m', 'First');
  return folder;
}

interface ResumeChange {
  readonly retry?: boolean;
  readonly options?: Partial<Options>;
}

/** Says how often what a run ended with is tried again. */
class RetryLimits {
  private readonly counts = new Map<string, number>();
  private readonly subject: Case;

  constructor(subject: Case) {
    this.subject = subject;
  }

  /** The request of the next resume; null if the run has ended for good. */
  resumeOf({ status, agents }: Run): ResumeChange | null {
    const count = (this.counts.get(status) ?? 0) + 1;
    this.counts.set(status, count);
    switch (status) {
      case 'budget_exceeded':
        return count <= 3 ? { options: { budgetMicros: null } } : null;
      case 'iteration_limit':
        return count <= 3 ? { options: { maxIterations: null } } : null;
      case 'paused':
        // Without waiting, a run that has reached its reserve stays there.
        if (count > 12) return null;
        return {
          ...(!this.subject.waits && { options: { reserve: null } }),
          // A script that was killed midway runs again only if somebody says so.
          ...(agents.some(({ phase }) => phase.kind === 'paused' && phase.why === 'interrupted') && { retry: true }),
        };
      case 'interrupted':
        return {};
      case 'failed':
        return count <= 3 ? { retry: true } : null;
      default:
        return null;
    }
  }
}

/** Knows what git is at: a process that really crashed would not continue with it. */
class GitWork {
  private readonly underWay = new Set<Promise<unknown>>();

  wrap(world: World): World {
    return {
      ...world,
      take: (turn) => {
        const taken = world.take(turn);
        if (turn.kind !== 'worktree' && turn.kind !== 'workspace') return taken;
        this.underWay.add(taken);
        return taken.finally(() => this.underWay.delete(taken));
      },
    };
  }

  get isUnderWay(): boolean {
    return this.underWay.size > 0;
  }

  ended(): Promise<unknown> {
    return Promise.allSettled(this.underWay);
  }
}

/** Finds the points of a run at which a case lets something happen, each of them once. */
class Points<Point extends CrashDef> {
  count = 0;
  private readonly planned: Set<Point>;
  private readonly calls = new Map<CrashDef['at'], number>();

  constructor(planned: readonly Point[]) {
    this.planned = new Set(planned);
  }

  wrap(world: World, happen: (point: Point) => Promise<void>): World {
    const pass = async (at: CrashDef['at']): Promise<void> => {
      const number = (this.calls.get(at) ?? 0) + 1;
      this.calls.set(at, number);
      const found = [...this.planned].find((each) => each.at === at && each.nth === number);
      if (found === undefined) return;
      this.planned.delete(found);
      this.count += 1;
      await happen(found);
    };
    return {
      ...world,
      prepare: async (turn) => {
        await pass('prepare');
        return world.prepare(turn);
      },
      take: async (turn) => {
        if (turn.kind === 'sleep') return world.take(turn);
        await pass('take');
        const signal = await world.take(turn);
        await pass('taken');
        return signal;
      },
      save: async (steps) => {
        await pass('save');
        await world.save(steps);
        await pass('saved');
      },
    };
  }
}

type InterruptAgent = (agent: string, words: string | null) => Promise<void>;

/** Interrupts the first turn of the states that the case names, just when it begins. */
const interrupting =
  (take: World['take'], { interrupts }: Case, interrupt: InterruptAgent): World['take'] =>
  async (turn) => {
    const words = turn.kind === 'claude' && turn.attempt === 1 ? interrupts.get(turn.state) : undefined;
    if (words !== undefined && turn.kind === 'claude' && turn.visit === 1 && turn.prompt.kind === 'state')
      await interrupt(turn.agent, words);
    return take(turn);
  };

const NOWHERE = { line: 1, column: 1, file: 'case' };

function asksOf({ asks }: Case): ReadonlyMap<string, PeopleAnswers> {
  return new Map(
    Array.from(asks, ([state, answers]) => [state, { ...NOWHERE, everyQuestion: false, answers }] as const),
  );
}

function scenarioOf({ workflows }: Case): Scenario {
  const answers = new Map<string, StateAnswers>();
  for (const { name, states } of workflows.values()) {
    for (const state of states.values()) {
      if (state.real !== null) continue;
      const visits = state.answers.map((turns) => turns.map(toCanned));
      answers.set(fullName(name, state.file), {
        ...NOWHERE,
        cases: [{ when: {}, everyVisit: false, visits }],
        outputs: [],
      });
    }
  }
  return { file: 'case', answers, scripts: 'real', scriptFingerprints: new Map() };
}

const toCanned = (answer: AnswerDef): CannedAnswer => ({
  text: formatAnswer(answer),
  write: answer.writes,
  uses: [],
  deny: answer.deny,
  costUsd: microsToUsd(answer.cost),
  seconds: answer.seconds,
  fail: answer.fail,
  resetsInSeconds: 600,
  quotaPercent: answer.quota,
  exit: answer.exit,
  stderr: '',
  say: answer.say,
  crash: false,
  compact: { costUsd: microsToUsd(answer.summary.cost), fails: answer.summary.fails },
});

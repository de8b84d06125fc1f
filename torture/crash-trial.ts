import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { kill, killGroups, processesOf, turnsOf } from './processes.ts';
import type { Random } from './random.ts';
import type { Command, CommandEnd, Rig } from './rig.ts';
import { type SaidWord, talk } from './talk.ts';
import { ANSWER } from './workflow.ts';

/**
 * The target of a kill: the orchestrator, the process group of one turn, or the orchestrator and the groups of all turns; in a fleet also
 * a worker whose agents continue elsewhere.
 */
export type KillTarget = 'orchestrator' | 'turn' | 'both' | 'home';

/** The time of a kill: after a random delay, as soon as something changes on disk, or while a script runs. */
type KillTime = 'timed' | 'at a transition' | 'in a script';

/** One kill that happened. */
export interface Kill {
  readonly at: number;
  readonly target: KillTarget;
  readonly when: KillTime;
  /** The turns at work at that time, and those whose group was killed. */
  readonly underWay: readonly string[];
  readonly killed: readonly string[];
  /** Those of the latter whose conversation was open between two turns. */
  readonly killedIdle: readonly string[];
}

/** A run that was killed several times, until it ended or did not end. */
export interface CrashTrial {
  readonly kills: readonly Kill[];
  /** The ends of all commands that were not killed, in order. */
  readonly exits: readonly Exit[];
  readonly last: CommandEnd | null;
  readonly tookMs: number;
  readonly resumes: number;
  readonly said: readonly SaidWord[];
}

/** The end of a command that was not killed. */
export interface Exit {
  readonly args: readonly string[];
  readonly code: number | null;
  readonly stderr: string;
}

/** The kills of one run. */
export interface Plan {
  readonly targets: readonly [KillTarget, ...KillTarget[]];
  /** The number of kills after which the run is not disturbed any more. */
  readonly maxKills: number;
  /** The longest time between a start of the command, or a kill, and the next kill. */
  readonly maxDelayMs: number;
  /** How many words are said to the first agent, and the generator of their times. */
  readonly words: { readonly most: number; readonly random: Random };
}

/** A command that takes longer than this hangs; the delays after many kills of one turn are well below. */
const HANG_TIMEOUT_MS = 900_000;
/** The shares of kills between two turns, and during a script. */
const AT_TRANSITION = 0.12;
const IN_SCRIPT = 0.25;
/** The share of the other kills that is skipped while no turn runs. */
const SKIPPED_IF_IDLE = 0.9;
/** The exit code of a run that waits for a person. */
const WAITING = 2;
/** A run that needs more starts than this does not end. */
const MAX_STARTS = 400;

/** Starts a run, kills and resumes it according to the plan, until it has ended. */
export async function runTrial(rig: Rig, plan: Plan, random: Random): Promise<CrashTrial> {
  const began = Date.now();
  const kills: Kill[] = [];
  const exits: Exit[] = [];
  const said: SaidWord[] = [];
  let resumes = 0;
  let args: readonly string[] = ['run', rig.workflow, '--run-id', rig.id, '--json'];
  for (let starts = 0; starts < MAX_STARTS; starts += 1) {
    const command = rig.command(args);
    const silence = new AbortController();
    const talking = talk(rig, plan.words.random, said, plan.words.most, silence.signal);
    const ended = await killWhileRunning(rig, plan, random, command, kills);
    silence.abort();
    await talking;
    if (ended === null) {
      exits.push({ args, code: null, stderr: 'it hangs' });
      break;
    }
    if (ended.code !== null) exits.push({ args, code: ended.code, stderr: ended.stderr });
    if (ended.code === WAITING) exits.push(await answer(rig));
    const next = nextArguments(rig, ended);
    if (next === null) return { kills, exits, last: ended, tookMs: Date.now() - began, resumes, said };
    args = (await exists(rig)) ? next : ['run', rig.workflow, '--run-id', rig.id, '--json'];
    if (args === next) resumes += 1;
  }
  return { kills, exits, last: null, tookMs: Date.now() - began, resumes, said };
}

/** Answers the question of the workflow. */
async function answer(rig: Rig): Promise<Exit> {
  const args = ['answer', rig.id, ANSWER];
  const { code, stderr } = await rig.command(args, []).ended;
  return { args, code, stderr };
}

/** The arguments of the next command; null if the run has ended. Only a pause requires `--retry`. */
function nextArguments(rig: Rig, { code, stderr }: CommandEnd): readonly string[] | null {
  const resume = ['resume', rig.id, '--json'];
  if (code === null || code === WAITING) return resume;
  if (code === 3) return /--retry/.test(stderr) ? [...resume, '--retry'] : resume;
  return null;
}

/** Whether the run exists: a command that was killed before it wrote the first line of the journal has started nothing. */
const exists = async (rig: Rig): Promise<boolean> => (await rig.traces()).journal !== '';

/** Kills the targets while a command runs, until it has ended; null if it hangs. */
async function killWhileRunning(
  rig: Rig,
  plan: Plan,
  random: Random,
  command: Command,
  kills: Kill[],
): Promise<CommandEnd | null> {
  const over = new AbortController();
  const ended = command.ended.finally(() => over.abort());
  let hangs = false;
  const hangTimer = setTimeout(() => {
    hangs = kill(command.child.pid ?? 0);
  }, HANG_TIMEOUT_MS);
  while (kills.length < plan.maxKills && !over.signal.aborted) {
    const when = drawKillTime(random.next());
    await WAIT[when](rig, plan, random, over.signal);
    if (over.signal.aborted) break;
    const latest = killTarget(rig, random.oneOf(plan.targets), when, random, command);
    if (latest === null) continue;
    kills.push(latest);
    if (latest.target !== 'turn') break;
  }
  const first = await ended;
  clearTimeout(hangTimer);
  return hangs ? null : first;
}

const drawKillTime = (drawn: number): KillTime =>
  drawn < AT_TRANSITION ? 'at a transition' : drawn < AT_TRANSITION + IN_SCRIPT ? 'in a script' : 'timed';

type Wait = (rig: Rig, plan: Plan, random: Random, abort: AbortSignal) => Promise<void>;

/** Kills a target now; null if it does not exist. */
function killTarget(rig: Rig, target: KillTarget, when: KillTime, random: Random, { child }: Command): Kill | null {
  const processes = processesOf(rig.id);
  const { atWork: underWay, idle } = turnsOf(processes);
  const [first, ...others] = [...idle, ...underWay];
  const report = (killed: readonly string[]): Kill => {
    const killedIdle = killed.filter((turn) => idle.includes(turn));
    return { at: Date.now(), target, when, underWay, killed, killedIdle };
  };
  if (underWay.length === 0 && when !== 'at a transition' && random.next() < SKIPPED_IF_IDLE) return null;
  if (target === 'turn') {
    if (first === undefined) return null;
    const chosen = random.oneOf([first, ...others]);
    const killed = killGroups(processes.filter(({ turn }) => turn === chosen));
    return killed.length === 0 ? null : report(killed);
  }
  const orchestratorFirst = random.next() < 0.5;
  if (orchestratorFirst) kill(child.pid ?? 0);
  const killed = target === 'both' ? killGroups(processes) : [];
  if (!orchestratorFirst) kill(child.pid ?? 0);
  return report(killed);
}

/** Waits for a random time. */
const waitRandomTime: Wait = (_rig, { maxDelayMs }, random, abort) => wait(random.between(0, maxDelayMs), abort);

/** Waits until a script runs, and then for a random time. */
async function waitForScript(rig: Rig, _plan: Plan, random: Random, abort: AbortSignal): Promise<void> {
  while (!abort.aborted && !processesOf(rig.id).some(({ isScript }) => isScript)) await wait(20, abort);
  await wait(random.between(0, 200), abort);
}

/** Waits until something changes in the run's folder, which contains the journal, and a few milliseconds more. */
async function waitForChange(rig: Rig, _plan: Plan, random: Random, abort: AbortSignal): Promise<void> {
  await wait(random.between(0, 500), abort);
  let watcher: FSWatcher | undefined;
  await Promise.race([
    new Promise<void>((done) => {
      try {
        watcher = watch(join(rig.cwd, '.raymond', 'runs', rig.id), () => done());
      } catch {
        done();
      }
    }),
    wait(5_000, abort),
  ]);
  watcher?.close();
  await wait(random.between(0, 12), abort);
}

const wait = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal }).catch(() => undefined);

const WAIT: Readonly<Record<KillTime, Wait>> = {
  timed: waitRandomTime,
  'at a transition': waitForChange,
  'in a script': waitForScript,
};

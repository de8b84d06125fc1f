import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { kill, killGroups, processesOf } from './processes.ts';
import type { Chance } from './random.ts';
import { type Command, type Ended, type Rig, textOf } from './rig.ts';

/** What is killed: the orchestrator, the process group of one turn, or the orchestrator and the groups of all turns. */
export type Victim = 'orchestrator' | 'turn' | 'both';

/** When a kill comes: after a time, as soon as something happens on disk, or while a script runs, which is never long. */
type Moment = 'timed' | 'at a transition' | 'in a script';

/** One kill that happened. */
export interface Kill {
  readonly at: number;
  readonly victim: Victim;
  readonly when: Moment;
  /** Turns that had a living process at that instant, and those whose group was killed. */
  readonly underWay: readonly string[];
  readonly hit: readonly string[];
}

/** A run that was killed again and again, and came to its end or not. */
export interface Ordeal {
  readonly kills: readonly Kill[];
  /** How each start of the command ended that we did not kill, in order. */
  readonly exits: readonly Exit[];
  readonly last: Ended | null;
  readonly tookMs: number;
  readonly resumes: number;
}

export interface Exit {
  readonly args: readonly string[];
  readonly code: number | null;
  readonly stderr: string;
}

export interface Plan {
  readonly victims: readonly [Victim, ...Victim[]];
  /** After so many kills the run is left alone. */
  readonly mostKills: number;
  /** The longest time between a start of the command, or a kill, and the next kill. */
  readonly longestMs: number;
}

/** A command that takes longer than this hangs; what is waited for after many kills of one turn is well below. */
const PATIENCE_MS = 900_000;
/** How many kills wait for the moment when one turn ends and the next one begins, and how many for a script. */
const AT_TRANSITION = 0.12;
const IN_SCRIPT = 0.25;
/** How many of the others are put off if they would hit nothing that runs. */
const SPARED = 0.9;
/** Nobody needs more attempts than this, kills aside. */
const MOST_STARTS = 400;

/** Starts a run, kills what the plan says, resumes, and so on until it has ended. */
export async function suffer(rig: Rig, plan: Plan, chance: Chance): Promise<Ordeal> {
  const began = Date.now();
  const kills: Kill[] = [];
  const exits: Exit[] = [];
  let resumes = 0;
  let args: readonly string[] = ['run', rig.workflow, '--run-id', rig.id, '--json'];
  for (let starts = 0; starts < MOST_STARTS; starts += 1) {
    const command = rig.command(args);
    const ended = await plague(rig, plan, chance, command, kills);
    if (ended === null) {
      exits.push({ args, code: null, stderr: 'it hangs' });
      break;
    }
    if (ended.code !== null) exits.push({ args, code: ended.code, stderr: ended.stderr });
    const next = nextWords(rig, ended);
    if (next === null) return { kills, exits, last: ended, tookMs: Date.now() - began, resumes };
    args = (await exists(rig)) ? next : ['run', rig.workflow, '--run-id', rig.id, '--json'];
    if (args === next) resumes += 1;
  }
  return { kills, exits, last: null, tookMs: Date.now() - began, resumes };
}

/** How to go on after a command ended; null if there is nothing to go on with. Only a pause asks for `--retry`. */
function nextWords(rig: Rig, { code, stderr }: Ended): readonly string[] | null {
  const resume = ['resume', rig.id, '--json'];
  if (code === null) return resume;
  if (code === 3) return /--retry/.test(stderr) ? [...resume, '--retry'] : resume;
  return null;
}

/** A run exists from the moment its state file does; a command killed before that has started nothing. */
const exists = async (rig: Rig): Promise<boolean> =>
  (await textOf(rig.cwd, '.raymond', 'state', `${rig.id}.json`)) !== '';

/** Kills while a command runs, until it has ended; null if it does not end. */
async function plague(rig: Rig, plan: Plan, chance: Chance, command: Command, kills: Kill[]): Promise<Ended | null> {
  const over = new AbortController();
  const ended = command.ended.finally(() => over.abort());
  let hangs = false;
  const patience = setTimeout(() => {
    hangs = kill(command.child.pid ?? 0);
  }, PATIENCE_MS);
  while (kills.length < plan.mostKills && !over.signal.aborted) {
    const when = moment(chance.next());
    await WAIT[when](rig, plan, chance, over.signal);
    if (over.signal.aborted) break;
    const struck = strike(rig, chance.oneOf(plan.victims), when, chance, command);
    if (struck === null) continue;
    kills.push(struck);
    if (struck.victim !== 'turn') break;
  }
  const first = await ended;
  clearTimeout(patience);
  return hangs ? null : first;
}

const moment = (drawn: number): Moment =>
  drawn < AT_TRANSITION ? 'at a transition' : drawn < AT_TRANSITION + IN_SCRIPT ? 'in a script' : 'timed';

type Wait = (rig: Rig, plan: Plan, chance: Chance, abort: AbortSignal) => Promise<void>;

/** Kills now; null if what was to be killed is not there. */
function strike(rig: Rig, victim: Victim, when: Moment, chance: Chance, { child }: Command): Kill | null {
  const processes = processesOf(rig.id);
  const underWay = [...new Set(processes.map(({ turn }) => turn))];
  const [first, ...others] = underWay;
  if (first === undefined && when !== 'at a transition' && chance.next() < SPARED) return null;
  if (victim === 'turn') {
    if (first === undefined) return null;
    const chosen = chance.oneOf([first, ...others]);
    const hit = killGroups(processes.filter(({ turn }) => turn === chosen));
    return hit.length === 0 ? null : { at: Date.now(), victim, when, underWay, hit };
  }
  const orchestratorFirst = chance.next() < 0.5;
  if (orchestratorFirst) kill(child.pid ?? 0);
  const hit = victim === 'both' ? killGroups(processes) : [];
  if (!orchestratorFirst) kill(child.pid ?? 0);
  return { at: Date.now(), victim, when, underWay, hit };
}

/** Waits for a random time. */
const someTime: Wait = (_rig, { longestMs }, chance, abort) => nap(chance.between(0, longestMs), abort);

/** Waits until a script runs, and for a part of its time. */
async function inScript(rig: Rig, _plan: Plan, chance: Chance, abort: AbortSignal): Promise<void> {
  while (!abort.aborted && !processesOf(rig.id).some(({ isScript }) => isScript)) await nap(20, abort);
  await nap(chance.between(0, 200), abort);
}

/** Waits until something changes in the run's folder, where the journal lies, and a few milliseconds more. */
async function transition(rig: Rig, _plan: Plan, chance: Chance, abort: AbortSignal): Promise<void> {
  await nap(chance.between(0, 500), abort);
  let watcher: FSWatcher | undefined;
  await Promise.race([
    new Promise<void>((done) => {
      try {
        watcher = watch(join(rig.cwd, '.raymond', 'runs', rig.id), () => done());
      } catch {
        done();
      }
    }),
    nap(5_000, abort),
  ]);
  watcher?.close();
  await nap(chance.between(0, 12), abort);
}

const nap = (ms: number, signal: AbortSignal): Promise<void> => delay(ms, undefined, { signal }).catch(() => undefined);

const WAIT: Readonly<Record<Moment, Wait>> = {
  timed: someTime,
  'at a transition': transition,
  'in a script': inScript,
};

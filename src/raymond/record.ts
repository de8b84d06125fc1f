import { readdirSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { usdOf } from '../core/ledger.ts';
import { isPrompt } from '../core/names.ts';
import { DEFAULT_OPTIONS, type Options, type Run } from '../core/run.ts';
import { isLive } from '../core/standing.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { findRaymondFolder, layoutOf } from '../store/layout.ts';
import { findRun } from '../store/runs.ts';
import { lookAt } from '../store/standing.ts';
import { openWorkflow } from '../workflow/load.ts';
import { thisPlatform } from './platform.ts';
import { answerOf, type GivenAnswer, isOnRecord, type Recorder } from './record/answers.ts';
import { expectationsOf } from './record/expectations.ts';
import { fingerprintOf } from './record/fingerprint.ts';
import { isSecretName, MASK, newScrubber } from './record/scrub.ts';
import { type KeptTurn, type RecordedVisit, visitsOf } from './record/visits.ts';
import { recordedEvents } from './records.ts';

/** How a run is to be recorded. */
export interface RecordRequest {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Whether scripts are left to be run, instead of being played as they went. */
  readonly realScripts?: boolean;
  /** What runs are called where the scenario is played. */
  readonly playedAs: string;
}

/** A run as a scenario. */
export interface Recording {
  readonly run: Run;
  /** What is to be written into the file. */
  readonly scenario: Readonly<Record<string, unknown>>;
  readonly answers: number;
  /** What could not be recorded, as sentences. */
  readonly notes: readonly string[];
}

/** Makes a scenario of a run that is over: what was answered, and what came of it. */
export async function recordRun(wanted: string, request: RecordRequest): Promise<Recording> {
  const { cwd = process.cwd(), env = process.env, realScripts = false, playedAs } = request;
  const layout = layoutOf(findRaymondFolder(cwd));
  const { run, standing } = await lookAt(layout, await findRun(layout, wanted));
  if (isLive(standing) || standing === 'crashed') throw unfinished(run, standing);
  const events = await recordedEvents(run.id, cwd);
  const cwds = new Map(events.flatMap((event) => (event.kind === 'agent_started' ? [[event.agent, event.cwd]] : [])));
  const scrub = scrubberOf(run, cwds, env, playedAs);
  const notes: string[] = [];
  const recorder: Recorder = {
    folderOf: ({ end }) => layout.turn(run.id, { agent: end.agent, number: end.turn, state: end.state }),
    cwdOf: (agent) => cwds.get(agent) ?? cwd,
    scrub,
    files: new Map(),
    note: (message) => notes.push(message),
  };
  const visits = visitsOf(events);
  const played = visits.filter(({ state }) => isPrompt(state) || !realScripts);
  const answers = answersOf(played, recorder, run);
  const input = events.find((event) => event.kind === 'agent_started' && event.parent === null);
  const scenario = {
    name: run.name,
    ...(input?.kind === 'agent_started' && input.input !== null && { input: scrub('main', input.input) }),
    ...variablesOf(run.options, scrub),
    ...optionsOf(run.options),
    scripts: realScripts ? 'real' : 'played',
    ...(await scriptsOf(run, Object.keys(answers.byState))),
    answers: answers.byState,
    expect: expectationsOf(run, events, visits, scrub),
  };
  return { run, scenario, answers: answers.count, notes };
}

/** What the scripts are like that are played, so that a change can be noticed. Where they cannot be read, it cannot. */
async function scriptsOf(
  { workflow: { path } }: Run,
  states: readonly string[],
): Promise<{ readonly recorded_scripts?: Readonly<Record<string, string>> }> {
  const scripts = states.filter((state) => !isPrompt(state));
  if (scripts.length === 0) return {};
  try {
    const workflow = await openWorkflow(path, thisPlatform());
    const read = async (script: string) => [script, fingerprintOf((await workflow.state(script)).text)] as const;
    return { recorded_scripts: Object.fromEntries(await Promise.all(scripts.map(read))) };
  } catch (error) {
    if (!(error instanceof RaymondError)) throw error;
    return {};
  }
}

type Scrub = Recorder['scrub'];

function scrubberOf(run: Run, cwds: ReadonlyMap<string, string>, env: NodeJS.ProcessEnv, playedAs: string): Scrub {
  const roots = listed('/');
  const main = cwds.get('main') ?? '';
  const scrubbers = new Map<string, (text: string) => string>();
  return (agent, text) => {
    const own = cwds.get(agent) ?? main;
    const scrub =
      scrubbers.get(own) ??
      newScrubber({ folders: [own, real(own), main, real(main)], home: env.HOME ?? homedir(), roots, env });
    scrubbers.set(own, scrub);
    // Whoever speaks of the run by its name will have to speak of another one.
    return scrub(text.replaceAll(run.id, playedAs));
  };
}

/** The answers of all visits, state by state. Where several agents were in a state, each has its own. */
function answersOf(
  visits: readonly RecordedVisit[],
  recorder: Recorder,
  run: Run,
): { readonly byState: Readonly<Record<string, unknown>>; readonly count: number } {
  const missing = visits.flatMap(({ turns }) => turns).find((turn) => !isOnRecord(recorder, turn));
  if (missing !== undefined) throw unrecorded(run, missing);
  const turnsInTime = visits.flatMap(({ turns }) => turns).toSorted((a, b) => a.end.at - b.end.at);
  const answers = new Map(turnsInTime.map((turn) => [turn, answerOf(recorder, turn)]));
  const byState: Record<string, unknown> = {};
  for (const state of new Set(visits.map((visit) => visit.state))) {
    const here = visits.filter((visit) => visit.state === state && visit.turns.length > 0);
    const agents = [...new Set(here.map(({ agent }) => agent))];
    const given = (agent: string): readonly unknown[] =>
      here
        .filter((visit) => visit.agent === agent)
        .map(({ turns }) => visitOf(turns.map((turn) => answers.get(turn) ?? {})));
    const [only, another] = agents;
    if (only === undefined) continue;
    byState[state] =
      another === undefined ? given(only) : agents.map((id) => ({ when: { agent_id: id }, visits: given(id) }));
  }
  return { byState, count: answers.size };
}

function visitOf(turns: readonly GivenAnswer[]): unknown {
  const short = turns.map((turn) => (Object.keys(turn).join() === 'text' ? turn.text : turn));
  return short.length === 1 ? short[0] : { turns: short };
}

function variablesOf({ variables }: Options, scrub: Scrub): { readonly vars?: Readonly<Record<string, string>> } {
  const vars = Object.entries(variables).map(([name, value]) => [
    name,
    isSecretName(name) ? MASK : scrub('main', value),
  ]);
  return vars.length === 0 ? {} : { vars: Object.fromEntries(vars) };
}

/** Those options that make a difference to a scenario and are not as usual. */
function optionsOf(options: Options): { readonly options?: object } {
  const { budgetMicros, maxIterations, parallel, reminders, retries, wait, resetStack } = options;
  const usual = DEFAULT_OPTIONS;
  const given = {
    ...(budgetMicros !== usual.budgetMicros && { budget: usdOf(budgetMicros ?? 0) }),
    ...(maxIterations !== usual.maxIterations && { max_iterations: maxIterations ?? 0 }),
    ...(parallel !== usual.parallel && { parallel: parallel ?? 0 }),
    ...(reminders !== usual.reminders && { reminders }),
    ...(retries !== usual.retries && { retries }),
    ...(wait !== usual.wait && { wait }),
    ...(resetStack !== usual.resetStack && { reset_stack: resetStack }),
  };
  return Object.keys(given).length === 0 ? {} : { options: given };
}

function listed(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

const unfinished = ({ id }: Run, standing: string): RaymondError =>
  new RaymondError(`The run ${id} is not over, so it cannot be recorded: it is ${standing}.`, {
    exitCode: EXIT.usage,
    hint: standing === 'crashed' ? `\`raymond resume ${id}\` goes on with it.` : 'Wait for its end, or stop it.',
  });

const unrecorded = ({ id, options }: Run, { end }: KeptTurn): RaymondError =>
  new RaymondError(`The run ${id} cannot be recorded: nothing is left of what ${end.state} answered.`, {
    exitCode: EXIT.usage,
    hint: options.debug
      ? `The files of turn ${end.turn} of ${end.agent} are gone. Run the workflow again and record that run.`
      : 'It was run with --no-debug, which keeps nothing. Run the workflow again without it, and record that run.',
  });

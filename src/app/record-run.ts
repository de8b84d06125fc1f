import { createHash } from 'node:crypto';
import { readdirSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { DEFAULT_OPTIONS, OPTIONS, type Options } from '../core/options/options.ts';
import type { Run } from '../core/run/run.ts';
import { isLive } from '../core/run/status.ts';
import { type TurnRef, turnRefOf } from '../core/turns/due.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { isSecretName } from '../language/secret-names.ts';
import { isPrompt } from '../language/state-names.ts';
import { recordedExit } from '../process/turn-files.ts';
import type { RunStorage, TurnStream } from '../storage/storage.ts';
import { callLimitsOf } from '../wiring/run-workflows.ts';
import { openWorkflow } from '../workflow/workflow.ts';
import {
  hasTurnFiles,
  type RecordedAnswer,
  type RecordedOutput,
  type RecordingContext,
  recordAnswer,
} from './record/answers.ts';
import { recordAsks, recordExpectations } from './record/expectations.ts';
import { createScrubber, SECRET_MASK } from './record/scrub.ts';
import { collectVisits, type RecordedTurn, type RecordedVisit } from './record/visits.ts';
import { readRunEvents } from './run-files.ts';
import { currentPlatform } from './workflows/platform.ts';

/** How to record a run. */
export interface RecordRequest {
  readonly cwd?: string;
  readonly storage: RunStorage;
  readonly env?: NodeJS.ProcessEnv;
  /** True if scripts are run in the test, instead of being replayed from the recording. */
  readonly realScripts?: boolean;
  /** The id of runs in tests, which replaces the id of this run. */
  readonly replayRunId: string;
}

/** A run as a scenario. */
export interface Recording {
  readonly run: Run;
  /** The content of the scenario file. */
  readonly scenario: Readonly<Record<string, unknown>>;
  readonly answers: number;
  /** Sentences about everything that could not be recorded. */
  readonly notes: readonly string[];
}

/** Makes a scenario of a run that is over: its answers, and its outcome as the expectation. */
export async function recordRun(runRef: string, request: RecordRequest): Promise<Recording> {
  const { cwd = process.cwd(), env = process.env, realScripts = false, replayRunId } = request;
  const { storage } = request;
  const { run, observedStatus } = await storage.runs.observe(await storage.runs.resolve(runRef));
  if (isLive(observedStatus) || observedStatus === 'crashed') throw unfinishedRunError(run, observedStatus);
  const events = await readRunEvents(run.id, storage);
  const cwds = new Map(events.flatMap((event) => (event.kind === 'agent_started' ? [[event.agent, event.cwd]] : [])));
  const scrub = createAgentScrubber(run, cwds, env, replayRunId);
  const notes: string[] = [];
  const visits = collectVisits(events);
  const outputs = new Map<RecordedTurn, RecordedOutput>();
  for (const turn of visits.flatMap(({ turns }) => turns))
    outputs.set(turn, await readOutput(storage, run.id, turnRefOf(turn.end)));
  const context: RecordingContext = {
    outputOf: (turn) => outputs.get(turn) ?? { stdout: null, stderr: null, exitCode: null },
    cwdOf: (agent) => cwds.get(agent) ?? cwd,
    scrub,
    files: new Map(),
    addNote: (message) => notes.push(message),
  };
  const replayedVisits = visits.filter(({ state }) => isPrompt(state) || !realScripts);
  const answers = collectAnswers(replayedVisits, context, run);
  const mainStarted = events.find((event) => event.kind === 'agent_started' && event.parent === null);
  const scenario = {
    name: run.name,
    ...(mainStarted?.kind === 'agent_started' &&
      mainStarted.input !== null && { input: scrub('main', mainStarted.input) }),
    ...recordVariables(run.options, scrub),
    ...recordOptions(run.options),
    scripts: realScripts ? 'real' : 'played',
    ...(await fingerprintScripts(run, Object.keys(answers.byState))),
    answers: answers.byState,
    ...recordAsks(events, context),
    expect: recordExpectations(run, events, visits, scrub),
  };
  return { run, scenario, answers: answers.count, notes };
}

async function readOutput({ output }: RunStorage, run: string, turn: TurnRef): Promise<RecordedOutput> {
  const sizes = await output.sizes(run, turn);
  const read = async (stream: TurnStream): Promise<string | null> => {
    if (sizes[stream] === undefined) return null;
    const parts: Buffer[] = [];
    for await (const { bytes } of output.read(run, turn, stream)) parts.push(bytes);
    return Buffer.concat(parts).toString('utf8');
  };
  const folder = output.findFolder(run, turn);
  const exitCode = folder === null ? null : (recordedExit(folder)?.code ?? null);
  return { stdout: await read('stdout'), stderr: await read('stderr'), exitCode };
}

/** Fingerprints of the replayed scripts, so that a change can be noticed; none if the workflow cannot be read. */
async function fingerprintScripts(
  run: Run,
  states: readonly string[],
): Promise<{ readonly recorded_scripts?: Readonly<Record<string, string>> }> {
  const scripts = states.filter((state) => !isPrompt(state));
  if (scripts.length === 0) return {};
  try {
    const workflow = await openWorkflow(
      run.workflow.path,
      currentPlatform(),
      callLimitsOf(run.options, process.env, run),
    );
    const read = async (script: string) => [script, fingerprintScript((await workflow.state(script)).text)] as const;
    return { recorded_scripts: Object.fromEntries(await Promise.all(scripts.map(read))) };
  } catch (error) {
    if (!(error instanceof RaymondError)) throw error;
    return {};
  }
}

type Scrub = RecordingContext['scrub'];

function createAgentScrubber(
  run: Run,
  cwds: ReadonlyMap<string, string>,
  env: NodeJS.ProcessEnv,
  replayRunId: string,
): Scrub {
  const roots = listFolder('/');
  const mainCwd = cwds.get('main') ?? '';
  const scrubbers = new Map<string, (text: string) => string>();
  return (agent, text) => {
    const agentCwd = cwds.get(agent) ?? mainCwd;
    const scrub =
      scrubbers.get(agentCwd) ??
      createScrubber({
        folders: [agentCwd, resolveRealPath(agentCwd), mainCwd, resolveRealPath(mainCwd)],
        home: env.HOME ?? homedir(),
        roots,
        env,
      });
    scrubbers.set(agentCwd, scrub);
    // Texts that mention the id of the run must mention that of the test.
    return scrub(text.replaceAll(run.id, replayRunId));
  };
}

/** Collects the answers of all visits by state. If several agents were in a state, each has its own list. */
function collectAnswers(
  visits: readonly RecordedVisit[],
  context: RecordingContext,
  run: Run,
): { readonly byState: Readonly<Record<string, unknown>>; readonly count: number } {
  const missing = visits.flatMap(({ turns }) => turns).find((turn) => !hasTurnFiles(context, turn));
  if (missing !== undefined) throw missingTurnError(run, missing);
  const turnsByTime = visits.flatMap(({ turns }) => turns).toSorted((a, b) => a.end.at - b.end.at);
  const answers = new Map(turnsByTime.map((turn) => [turn, recordAnswer(context, turn)]));
  const byState: Record<string, unknown> = {};
  for (const state of new Set(visits.map((visit) => visit.state))) {
    const stateVisits = visits.filter((visit) => visit.state === state && visit.turns.length > 0);
    const agents = [...new Set(stateVisits.map(({ agent }) => agent))];
    const answersBy = (agent: string): readonly unknown[] =>
      stateVisits
        .filter((visit) => visit.agent === agent)
        .map(({ turns }) => formatVisit(turns.map((turn) => answers.get(turn) ?? {})));
    const [firstAgent, secondAgent] = agents;
    if (firstAgent === undefined) continue;
    byState[state] =
      secondAgent === undefined
        ? answersBy(firstAgent)
        : agents.map((id) => ({ when: { agent_id: id }, visits: answersBy(id) }));
  }
  return { byState, count: answers.size };
}

function formatVisit(turns: readonly RecordedAnswer[]): unknown {
  const entries = turns.map((turn) => (Object.keys(turn).join() === 'text' ? turn.text : turn));
  return entries.length === 1 ? entries[0] : { turns: entries };
}

function recordVariables({ variables }: Options, scrub: Scrub): { readonly vars?: Readonly<Record<string, string>> } {
  const vars = Object.entries(variables).map(([name, value]) => [
    name,
    isSecretName(name) ? SECRET_MASK : scrub('main', value),
  ]);
  return vars.length === 0 ? {} : { vars: Object.fromEntries(vars) };
}

/** The options that make a difference to a scenario and are not at their defaults. */
function recordOptions(options: Options): { readonly options?: object } {
  const changed = OPTIONS.filter(
    ({ name, scenario }) => scenario === 'recorded' && options[name] !== DEFAULT_OPTIONS[name],
  );
  if (changed.length === 0) return {};
  return { options: Object.fromEntries(changed.map(({ name, key, type }) => [key, type.format(options[name])])) };
}

function listFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function resolveRealPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

const unfinishedRunError = ({ id }: Run, observedStatus: string): RaymondError =>
  new RaymondError(`The run ${id} is not over, so it cannot be recorded: it is ${observedStatus}.`, {
    exitCode: EXIT.usage,
    hint:
      observedStatus === 'crashed' ? `\`raymond resume ${id}\` continues with it.` : 'Wait for its end, or stop it.',
  });

const missingTurnError = ({ id, options }: Run, { end }: RecordedTurn): RaymondError =>
  new RaymondError(`The run ${id} cannot be recorded: the output of ${end.state} was not kept.`, {
    exitCode: EXIT.usage,
    hint: options.debug
      ? `The files of turn ${end.turn} of ${end.agent} are gone. Run the workflow again and record that run.`
      : 'It was run with --no-debug, which keeps nothing. Run the workflow again without it, and record that run.',
  });

/** The fingerprint of a script's text; different line endings make no difference. */
export const fingerprintScript = (text: string): string =>
  createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex').slice(0, 12);

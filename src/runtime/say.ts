import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Agent } from '../core/agent.ts';
import { isDone } from '../core/done-phase.ts';
import { explainFirmness } from '../core/interruption.ts';
import { isLive } from '../core/observed-status.ts';
import type { Run } from '../core/run.ts';
import type { SaidToAgent } from '../core/said.ts';
import { explainDeafness } from '../core/signals/said.ts';
import { EXIT, RaymondError } from '../errors.ts';
import type { ObservedRun } from '../store/observed-run.ts';
import type { WordRequest } from '../store/word-request.ts';
import { describeAnswerer } from './answerer.ts';
import { openRuns, type RunLocation } from './open-runs.ts';
import type { RunReader, WaitingWords } from './run-reader.ts';
import { endedRunError, toWords } from './words.ts';

/** What a person says to an agent of a run. */
export interface SayRequest {
  /** Where the run is. */
  readonly cwd: RunLocation;
  readonly env: NodeJS.ProcessEnv;
  /** May be left out if only one agent is at work. */
  readonly agent: string | null;
  readonly text: string;
  /** Whether the beginning of the run's id is not enough. */
  readonly isWholeId?: boolean;
}

/**
 * What becomes of what was said: the running turn gets it (`turn`), it waits for the agent's next prompt (`prompt`), or for
 * the run to be resumed (`resume`); `unknown` if the process that drives the run does not respond.
 */
export type SayFate = 'turn' | 'prompt' | 'resume' | 'unknown';

/** What was said, and to whom. */
export interface SayOutcome {
  readonly run: string;
  readonly agent: Agent;
  readonly said: string;
  readonly fate: SayFate;
}

/** The document of `raymond say --json`. */
export const createSayDocument = ({ run, agent, said, fate }: SayOutcome): object => ({
  run_id: run,
  agent: agent.id,
  state: agent.state,
  said_id: said,
  delivery: fate,
});

/** Says something to an agent of a run. It is kept when this resolves, whatever happens to the run. Throws if nobody can hear it. */
export async function sayToAgent(runRef: string, request: SayRequest): Promise<SayOutcome> {
  const text = toWords(request.text);
  const { runs, run, isDriven } = await findRun(runRef, request);
  // `say RUN AGENT` without a text is a slip.
  if (request.agent === null && run.agents.some(({ id }) => id === text))
    throw new RaymondError(`${text} is an agent: there is nothing to say to it`, {
      exitCode: EXIT.usage,
      hint: 'Write the text after it.',
    });
  const agent = findListener(run, request.agent);
  const { said, words } = await write(runs, run, request, { kind: 'say', agent: agent.id, text });
  if (!isDriven) return { run: run.id, agent, said, fate: 'resume' };
  if (!(await isTakenUp(runs, run.id, words))) {
    const later = await runs.observeRun(run.id);
    if (hasDriver(later)) return { run: run.id, agent, said, fate: 'unknown' };
    // It has just ended, for good or until it is resumed.
    if (await words.isThere()) return sayLater(later.run, agent.id, said, words);
  }
  const { turn, refused, now = agent } = await findFate(runs, run.id, agent.id, said);
  if (refused !== null) throw deafError(run.id, refused);
  return { run: run.id, agent: now, said, fate: turn === null ? 'prompt' : 'turn' };
}

/** How to interrupt an agent. */
export interface InterruptRequest extends Omit<SayRequest, 'text'> {
  /** What the agent goes on with; null if it is to ask. */
  readonly text: string | null;
}

/** An agent that is being interrupted; `isTakenUp` is false if the process that drives the run does not respond. */
export interface InterruptOutcome {
  readonly run: string;
  readonly agent: Agent;
  readonly isTakenUp: boolean;
}

/** Interrupts the running turn of an agent, which then goes on with the text, or asks. Throws if there is nothing to interrupt. */
export async function interruptAgent(runRef: string, request: InterruptRequest): Promise<InterruptOutcome> {
  const text = request.text === null ? null : toWords(request.text);
  const { runs, run, isDriven } = await findRun(runRef, request);
  // `interrupt RUN AGENT` without a text asks.
  const isName = request.agent === null && text !== null && run.agents.some(({ id }) => id === text);
  const agent = findListener(run, isName ? text : request.agent);
  const wanted = isName ? null : text;
  if (!isDriven)
    throw new RaymondError(`no process drives the run ${run.id}: no turn of it can be interrupted`, {
      exitCode: EXIT.usage,
      hint: `\`raymond say ${run.id} ${agent.id} TEXT\` says something that it hears when the run is resumed.`,
    });
  const refusal = explainFirmness(run, agent, wanted);
  if (refusal !== null) throw firmError(run.id, agent.id, refusal);
  const { said, words } = await write(runs, run, request, { kind: 'interrupt', agent: agent.id, text: wanted });
  if (!(await isTakenUp(runs, run.id, words))) {
    if (hasDriver(await runs.observeRun(run.id))) return { run: run.id, agent, isTakenUp: false };
    await words.remove();
    throw firmError(run.id, agent.id, 'its run has just ended');
  }
  const { refused } = await findFate(runs, run.id, agent.id, said);
  if (refused !== null) throw firmError(run.id, agent.id, refused);
  return { run: run.id, agent, isTakenUp: true };
}

async function findRun(
  runRef: string,
  { cwd, isWholeId = false }: Pick<SayRequest, 'cwd' | 'isWholeId'>,
): Promise<{ readonly runs: RunReader; readonly run: Run; readonly isDriven: boolean }> {
  const runs = openRuns(cwd);
  const id = await runs.resolveRunId(runRef);
  if (isWholeId && id !== runRef)
    throw new RaymondError(`no such run: ${runRef}`, {
      exitCode: EXIT.usage,
      hint: 'What changes a run needs its whole id.',
    });
  const observed = await runs.observeRun(id);
  return { runs, run: observed.run, isDriven: hasDriver(observed) };
}

/** Whether somebody drives the run who can take up what is said. */
const hasDriver = ({ observedStatus, waitsFor }: ObservedRun): boolean =>
  isLive(observedStatus) && waitsFor === undefined;

/** Puts a request where the run finds it. */
async function write(
  runs: RunReader,
  { id: run }: Run,
  { env }: Pick<SayRequest, 'env'>,
  wanted: Pick<WordRequest, 'kind' | 'agent' | 'text'>,
): Promise<{ readonly said: string; readonly words: WaitingWords }> {
  const said = randomUUID();
  const request = { ...wanted, id: said, by: describeAnswerer(env), at: Date.now() };
  return { said, words: await runs.addWords(run, request) };
}

const POLL_INTERVAL_MS = 50;
const TAKE_UP_WITHIN_MS = 5_000;
/** How many polls come between two looks at the run. */
const LOOK_EVERY = 10;

/** Waits until the process that drives the run has taken a request up; false if it does not, or drives it no more. */
async function isTakenUp(runs: RunReader, run: string, words: WaitingWords): Promise<boolean> {
  for (let polls = 1; polls * POLL_INTERVAL_MS <= TAKE_UP_WITHIN_MS; polls += 1) {
    if (!(await words.isThere())) return true;
    await delay(POLL_INTERVAL_MS);
    if (polls % LOOK_EVERY === 0 && !hasDriver(await runs.observeRun(run))) break;
  }
  return !(await words.isThere());
}

/** What becomes of words that nobody has taken up before the run ended: they are kept if it can be resumed. */
async function sayLater(run: Run, id: string, said: string, words: WaitingWords): Promise<SayOutcome> {
  try {
    return { run: run.id, agent: findListener(run, id), said, fate: 'resume' };
  } catch (error) {
    await words.remove();
    throw error;
  }
}

/** What the run has made of a request. */
async function findFate(
  runs: RunReader,
  id: string,
  agent: string,
  request: string,
): Promise<Pick<SaidToAgent, 'turn' | 'refused'> & { readonly now?: Agent }> {
  const { run } = await runs.observeRun(id);
  const now = run.agents.find((each) => each.id === agent);
  const { said = [], interruption = null } = now ?? {};
  const found = said.find((each) => each.id === request);
  if (found !== undefined && now !== undefined) return { turn: found.turn, refused: null, now };
  if (interruption?.id === request) return { turn: interruption.turn, refused: null };
  // It is over already, or was refused.
  for await (const { event } of runs.readEvents(id)) {
    if (event.kind === 'said' && event.said === request) return event;
    if (event.kind === 'turn_interrupted' && event.interrupt === request) return event;
  }
  return { turn: null, refused: null };
}

/** The agent that is meant: the named one, or the only one at work. */
function findListener({ id, agents }: Run, named: string | null): Agent {
  const hearing = agents.filter((agent) => explainDeafness(agent.id, agent) === null);
  if (hearing.length === 0) throw endedRunError(id);
  const working = hearing.filter((agent) => !isDone(agent));
  if (named === null) {
    const [only, second] = working.length === 0 ? hearing : working;
    if (only !== undefined && second === undefined) return only;
    throw new RaymondError(`${working.length || hearing.length} agents of ${id} are at work`, {
      exitCode: EXIT.usage,
      hint: `Name one of them: ${listNames(working.length === 0 ? hearing : working)}.`,
    });
  }
  const agent = agents.find((each) => each.id === named);
  const deafness = explainDeafness(named, agent);
  if (agent !== undefined && deafness === null) return agent;
  throw new RaymondError(`nothing can be said to ${named} of ${id}: ${deafness}`, {
    exitCode: EXIT.usage,
    hint: `These can hear: ${listNames(hearing)}.`,
  });
}

const MAX_NAMES = 8;

const listNames = (agents: readonly Agent[]): string =>
  `${agents
    .slice(0, MAX_NAMES)
    .map(({ id }) => id)
    .join(', ')}${agents.length > MAX_NAMES ? ' …' : ''}`;

const deafError = (run: string, refused: string): RaymondError =>
  new RaymondError(`it was not delivered in ${run}: ${refused}`, {
    exitCode: EXIT.usage,
    hint: `\`raymond logs ${run}\` shows what happened.`,
  });

const firmError = (run: string, agent: string, refused: string): RaymondError =>
  new RaymondError(`${agent} of ${run} is not interrupted: ${refused}`, {
    exitCode: EXIT.usage,
    hint: `\`raymond say ${run} ${agent} TEXT\` says something that it hears later; \`raymond stop ${run}\` stops the run.`,
  });

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Agent, isDone } from '../core/run/agent.ts';
import type { Run } from '../core/run/run.ts';
import { isLive } from '../core/run/status.ts';
import { whyUnreachable } from '../core/signals/messages.ts';
import { whyNotInterruptible } from '../core/turns/interruption.ts';
import type { SayDocument } from '../documents/types.ts';
import { EXIT, RaymondError } from '../errors.ts';
import type { RequestOutcome } from '../storage/requests.ts';
import type { ObservedRun } from '../storage/run-summary.ts';
import type { RunStorage } from '../storage/storage.ts';
import { describeAnswerer, endedRunError, toMessageText } from '../wiring/request-handler.ts';

/** A message to an agent of a run. */
export interface SayRequest {
  readonly storage: RunStorage;
  readonly env: NodeJS.ProcessEnv;
  /** May be left out if only one agent is at work. */
  readonly agent: string | null;
  readonly text: string;
  /** True if the beginning of the run's id is not enough. */
  readonly isWholeId?: boolean;
}

/**
 * The fate of a message: the running turn gets it (`turn`), it waits for the agent's next prompt (`prompt`), or for
 * the run to be resumed (`resume`); `unknown` if the process that drives the run does not respond.
 */
export type Delivery = 'turn' | 'prompt' | 'resume' | 'unknown';

/** A message that was sent, and its recipient. */
export interface SayOutcome {
  readonly run: string;
  readonly agent: Agent;
  readonly said: string;
  readonly fate: Delivery;
}

/** The document of `raymond say --json`. */
export const createSayDocument = ({ run, agent, said, fate }: SayOutcome): SayDocument => ({
  run_id: run,
  agent: agent.id,
  state: agent.state,
  said_id: said,
  delivery: fate,
});

/** Says something to an agent of a run. It is kept when this resolves, whatever happens to the run. Throws if nobody can hear it. */
export async function sendMessage(runRef: string, request: SayRequest): Promise<SayOutcome> {
  const text = toMessageText(request.text);
  const { storage } = request;
  const { run, isDriven } = await findRun(runRef, request);
  // `say RUN AGENT` without a text is a slip.
  if (request.agent === null && run.agents.some(({ id }) => id === text))
    throw new RaymondError(`${text} is an agent: there is nothing to say to it`, {
      exitCode: EXIT.usage,
      hint: 'Write the text after it.',
    });
  const agent = findListener(run, request.agent);
  const said = randomUUID();
  await storage.inbox.put(run.id, {
    kind: 'message',
    id: said,
    agent: agent.id,
    text,
    ...signatureOf(storage, request),
  });
  if (!isDriven) return { run: run.id, agent, said, fate: 'resume' };
  const outcome = await waitForOutcome(storage, run.id, said);
  const later = await storage.runs.observe(run.id);
  if (outcome === null) {
    if (hasDriver(later)) return { run: run.id, agent, said, fate: 'unknown' };
    // It has just ended, for good or until it is resumed.
    return sayLater(storage, later.run, agent.id, said);
  }
  if (outcome.kind === 'refused') throw deafError(run.id, outcome.reason);
  const now = later.run.agents.find((each) => each.id === agent.id && each.messages.some(({ id }) => id === said));
  return { run: run.id, agent: now ?? agent, said, fate: outcome.turn === null ? 'prompt' : 'turn' };
}

/** How to interrupt an agent. */
export interface InterruptRequest extends Omit<SayRequest, 'text'> {
  /** The text that the agent continues with; null to make it ask. */
  readonly text: string | null;
}

/** An agent that is being interrupted; `isTakenUp` is false if the process that drives the run does not respond. */
export interface InterruptOutcome {
  readonly run: string;
  readonly agent: Agent;
  readonly isTakenUp: boolean;
}

/** Interrupts the running turn of an agent, which then continues with the text, or asks. Throws if there is nothing to interrupt. */
export async function interruptTurn(runRef: string, request: InterruptRequest): Promise<InterruptOutcome> {
  const text = request.text === null ? null : toMessageText(request.text);
  const { storage } = request;
  const { run, isDriven } = await findRun(runRef, request);
  // `interrupt RUN AGENT` without a text asks.
  const isName = request.agent === null && text !== null && run.agents.some(({ id }) => id === text);
  const agent = findListener(run, isName ? text : request.agent);
  const wanted = isName ? null : text;
  if (!isDriven)
    throw new RaymondError(`no process drives the run ${run.id}: no turn of it can be interrupted`, {
      exitCode: EXIT.usage,
      hint: `\`raymond say ${run.id} ${agent.id} TEXT\` says something that it hears when the run is resumed.`,
    });
  const refusal = whyNotInterruptible(run, agent, wanted);
  if (refusal !== null) throw firmError(run.id, agent.id, refusal);
  const id = randomUUID();
  await storage.inbox.put(run.id, {
    kind: 'interrupt',
    id,
    agent: agent.id,
    text: wanted,
    ...signatureOf(storage, request),
  });
  const outcome = await waitForOutcome(storage, run.id, id);
  if (outcome?.kind === 'refused') throw firmError(run.id, agent.id, outcome.reason);
  if (outcome === null && !hasDriver(await storage.runs.observe(run.id)) && (await storage.inbox.withdraw(run.id, id)))
    throw firmError(run.id, agent.id, 'its run has just ended');
  return { run: run.id, agent, isTakenUp: outcome !== null };
}

async function findRun(
  runRef: string,
  { storage: { runs }, isWholeId = false }: Pick<SayRequest, 'storage' | 'isWholeId'>,
): Promise<{ readonly run: Run; readonly isDriven: boolean }> {
  const id = await runs.resolve(runRef);
  if (isWholeId && id !== runRef)
    throw new RaymondError(`no such run: ${runRef}`, {
      exitCode: EXIT.usage,
      hint: 'What changes a run needs its whole id.',
    });
  const observed = await runs.observe(id);
  return { run: observed.run, isDriven: hasDriver(observed) };
}

/** True if somebody drives the run who can take up what is said. */
const hasDriver = ({ observedStatus, waitsFor }: ObservedRun): boolean =>
  isLive(observedStatus) && waitsFor === undefined;

const signatureOf = (
  { clock }: RunStorage,
  { env }: Pick<SayRequest, 'env'>,
): { readonly by: string; readonly at: number } => ({ by: describeAnswerer(env), at: clock.now() });

const POLL_INTERVAL_MS = 50;
const SETTLED_WITHIN_MS = 5_000;
/** How many polls come between two looks at the run. */
const LOOK_EVERY = 10;

/** Waits until the process that drives the run has settled a request; null if it does not, or drives it no more. */
async function waitForOutcome(storage: RunStorage, run: string, id: string): Promise<RequestOutcome | null> {
  let pollsLeft = SETTLED_WITHIN_MS / POLL_INTERVAL_MS;
  for (let polls = 1; ; polls += 1, pollsLeft -= 1) {
    const outcome = (await storage.inbox.find(run, id))?.outcome ?? null;
    if (outcome !== null || pollsLeft <= 0) return outcome;
    await delay(POLL_INTERVAL_MS);
    // A run that has just ended has the request in its journal a moment before the inbox has its outcome.
    if (polls % LOOK_EVERY === 0 && !hasDriver(await storage.runs.observe(run)))
      pollsLeft = Math.min(pollsLeft, LOOK_EVERY);
  }
}

/** A message that nobody has handled before the run ended is kept if the run can be resumed. */
async function sayLater(storage: RunStorage, run: Run, agent: string, said: string): Promise<SayOutcome> {
  try {
    return { run: run.id, agent: findListener(run, agent), said, fate: 'resume' };
  } catch (error) {
    await storage.inbox.withdraw(run.id, said);
    throw error;
  }
}

/** The agent that is meant: the named one, or the only one at work. */
function findListener({ id, agents }: Run, named: string | null): Agent {
  const hearing = agents.filter((agent) => whyUnreachable(agent.id, agent) === null);
  if (hearing.length === 0) throw endedRunError(id);
  const working = hearing.filter((agent) => !isDone(agent));
  if (named === null) {
    const [only, second] = working.length === 0 ? hearing : working;
    if (only !== undefined && second === undefined) return only;
    throw new RaymondError(`${working.length || hearing.length} agents of ${id} can receive messages`, {
      exitCode: EXIT.usage,
      hint: `Name one of them: ${listNames(working.length === 0 ? hearing : working)}.`,
    });
  }
  const agent = agents.find((each) => each.id === named);
  const deafness = whyUnreachable(named, agent);
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

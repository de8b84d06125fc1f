import { relative } from 'node:path';
import { archivedCount } from '../core/archive.ts';
import { turnRefOf } from '../core/due.ts';
import type { Event } from '../core/event.ts';
import { didYouMean } from '../core/nearest.ts';
import { isLive } from '../core/observed-status.ts';
import { stem } from '../core/state-names.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { AgentLabels } from '../events/agent-labels.ts';
import { LogWriter } from '../events/log-writer.ts';
import { createColorizer } from '../events/text-style.ts';
import { LogFollower } from './logs/log-follower.ts';
import {
  createJsonRenderer,
  createRawRenderer,
  createTextRenderer,
  type LogRenderer,
  type TurnLogSource,
} from './logs/log-renderers.ts';
import { findLogTail } from './logs/tail-start.ts';
import { TailWriter } from './logs/tail-writer.ts';
import { openRuns, type RunLocation } from './open-runs.ts';
import type { RunReader } from './run-reader.ts';

/** How to write the log of a run. */
export interface LogsRequest {
  readonly cwd?: string;
  /** Where the run is; `cwd` if this is left out. */
  readonly location?: RunLocation;
  /** Write the log of this agent only. */
  readonly agent?: string;
  /** Write only what happens in this state: its file, or its name without the ending. */
  readonly state?: string;
  /** Write only this many lines of what there is, the last ones. */
  readonly tail?: number;
  /** Whether to go on until the run ends. */
  readonly follow?: boolean;
  /** Whether to write the output of the turns unchanged. */
  readonly raw?: boolean;
  /** Whether to write every event as a line of JSON instead. */
  readonly json?: boolean;
  readonly color?: boolean;
  /** Waited for now and then, so that a slow reader does not fill the memory. */
  readonly drain?: () => Promise<void>;
  /** Ends the log early. */
  readonly signal?: AbortSignal;
  readonly write: (line: string) => void;
  /** For messages that are no part of the raw output. */
  readonly writeMessage: (text: string) => void;
}

/** Writes the log of a run, and with `follow` goes on until the run ends. */
export async function writeLogs(runRef: string, request: LogsRequest): Promise<void> {
  const { cwd = process.cwd(), agent, state, follow = false, color = false } = request;
  const signal = request.signal ?? new AbortController().signal;
  const runs = openRuns(request.location ?? cwd);
  const id = await runs.resolveRunId(runRef);
  if (agent !== undefined) await checkAgent(runs, id, agent, follow);
  if (state !== undefined) await checkState(runs, id, state, follow);
  const tail = new TailWriter(request.write, request.tail ?? Number.POSITIVE_INFINITY);
  if (request.tail === undefined) tail.goOn();
  const write = (line: string): void => tail.write(line);
  const labels = new AgentLabels();
  const logWriter = new LogWriter(createColorizer(color), write, labels);
  const source: TurnLogSource = {
    folderOf: (turn) => runs.turnFolder(id, turnRefOf(turn)),
    openFolderOf: (turn) => runs.openTurnFolder(id, turnRefOf(turn)),
    liveFolderOf: (turn, until) => runs.liveTurnFolder(id, turnRefOf(turn), until),
    displayPath: (path) => shorter(relative(cwd, path), path),
    signal,
  };
  const renderer = chooseRenderer(request, source, write, () => createTextRenderer(source, logWriter, labels));
  const isWanted = (event: Event): boolean =>
    (agent === undefined || !('agent' in event) || event.agent === agent) &&
    (state === undefined || !('state' in event) || isAboutState(event, state));
  const follower = new LogFollower(renderer, isWanted);
  const journalWatch = runs.watch(id);
  signal.addEventListener('abort', journalWatch.wake);
  try {
    const format = request.json ? 'json' : request.raw ? 'raw' : 'text';
    const { tail: lines } = request;
    let offset = lines === undefined ? 0 : await findLogTail(runs, id, { lines, format, isWanted }, labels);
    for (;;) {
      // Read before the journal: an owner that is gone by now writes nothing more.
      const isDriven = follow && (await runs.isDriven(id));
      for await (const { event, offset: end } of runs.readEvents(id, { offset })) {
        offset = end;
        labels.observe(event);
        await follower.handleEvent(event);
        await request.drain?.();
        if (signal.aborted) return;
      }
      if (!follow || follower.hasEnded || !isDriven) break;
      logWriter.isInterleaved = true;
      tail.goOn();
      follower.startFollowing();
      await journalWatch.next();
      if (signal.aborted) return;
    }
    await follower.finishOpenTurns();
    if (!follower.hasEnded) renderer.renderMessage(await describeRunStatus(runs, id));
  } finally {
    tail.goOn();
    follower.abandonOpenTurns();
    signal.removeEventListener('abort', journalWatch.wake);
    journalWatch.close();
  }
}

function chooseRenderer(
  { raw, json, writeMessage }: LogsRequest,
  source: TurnLogSource,
  write: (line: string) => void,
  createForPeople: () => LogRenderer,
): LogRenderer {
  if (json) return createJsonRenderer(write, writeMessage);
  return raw ? createRawRenderer(source, write, writeMessage) : createForPeople();
}

/** Whether a state is named by its file or by its name without the ending. */
const isStateNamed = (name: string, file: string | null): boolean =>
  file !== null && (file === name || stem(file) === name);

/** Whether an event is about a state, or about the evaluator of that name. */
const isAboutState = (event: Extract<Event, { state: string | null }>, name: string): boolean =>
  isStateNamed(name, event.state) || ('evaluator' in event && isStateNamed(name, event.evaluator));

async function checkState(runs: RunReader, id: string, state: string, mayComeLater: boolean): Promise<void> {
  if (mayComeLater && isLive((await runs.observeRun(id)).observedStatus)) return;
  const states = new Set<string>();
  for await (const { event } of runs.readEvents(id)) {
    if (event.kind !== 'turn_started') continue;
    if (isAboutState(event, state)) return;
    states.add(event.state);
  }
  throw new RaymondError(`run ${id} has never been in the state ${state}${didYouMean(state, states)}`, {
    exitCode: EXIT.usage,
    hint: `It was in ${[...states].slice(0, MAX_LISTED_STATES).join(', ')}.`,
  });
}

const MAX_LISTED_STATES = 20;

async function checkAgent(runs: RunReader, id: string, agent: string, mayStartLater: boolean): Promise<void> {
  const { run, observedStatus } = await runs.observeRun(id);
  const names = run.agents.map((each) => each.id);
  if (names.includes(agent) || (mayStartLater && isLive(observedStatus))) return;
  if (archivedCount(run) > 0 && (await hasStarted(runs, id, agent))) return;
  throw new RaymondError(`there is no agent ${agent} in run ${id}${didYouMean(agent, names)}`, {
    exitCode: EXIT.usage,
    hint: `\`raymond status ${id}\` shows its agents.`,
  });
}

/** Whether the journal has the start of this agent: it may have ended and been archived. */
async function hasStarted(runs: RunReader, id: string, agent: string): Promise<boolean> {
  for await (const { event } of runs.readEvents(id))
    if (event.kind === 'agent_started' && event.agent === agent) return true;
  return false;
}

/** Describes the status of a run whose log does not end with its end. */
async function describeRunStatus(runs: RunReader, id: string): Promise<string> {
  const { observedStatus, owner } = await runs.observeRun(id);
  if (isLive(observedStatus)) return `The run is still running: \`raymond logs ${id} --follow\` follows it.`;
  if (observedStatus !== 'crashed') return `The run has ended: ${observedStatus}.`;
  const pid = owner?.pid;
  const ownerText =
    pid === undefined ? 'No process drives this run any more' : `Process ${pid}, which drove this run, is gone`;
  return `${ownerText}. \`raymond resume ${id}\` goes on with it.`;
}

const shorter = (a: string, b: string): string => (a.length < b.length ? a : b);

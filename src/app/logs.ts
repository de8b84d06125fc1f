import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { archivedCount } from '../core/run/archive.ts';
import type { Event, TurnEnded, TurnStarted } from '../core/run/event.ts';
import { isLive } from '../core/run/status.ts';
import { turnRefOf } from '../core/turns/due.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { stem } from '../language/state-names.ts';
import { didYouMean } from '../language/text/nearest.ts';
import { AgentLabels } from '../render/agent-labels.ts';
import { LogWriter } from '../render/log-writer.ts';
import { createColorizer } from '../render/text-style.ts';
import {
  JOURNAL_START,
  type JournaledStep,
  type RunCatalog,
  type RunStorage,
  type TurnStream,
} from '../storage/storage.ts';
import {
  createJsonRenderer,
  createRawRenderer,
  createTextRenderer,
  type LogRenderer,
  type TurnLogSource,
} from './logs/log-renderers.ts';
import { findLogTail, TailWriter } from './logs/tail.ts';
import { toTurnLog } from './logs/turn-log-entries.ts';
import { streamRunEvents } from './run-files.ts';

/** How to write the log of a run. */
interface LogsRequest {
  readonly cwd?: string;
  readonly storage: RunStorage;
  /** Write the log of this agent only. */
  readonly agent?: string;
  /** Write only what happens in this state: its file, or its name without the ending. */
  readonly state?: string;
  /** Write only this many lines of what there is, the last ones. */
  readonly tail?: number;
  /** True to continue until the run ends. */
  readonly follow?: boolean;
  /** True to write the output of the turns unchanged. */
  readonly raw?: boolean;
  /** True to write every event as a line of JSON instead. */
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

/** Writes the log of a run, and with `follow` continues until the run ends. */
export async function writeLogs(runRef: string, request: LogsRequest): Promise<void> {
  const { cwd = process.cwd(), agent, state, follow = false, color = false } = request;
  const signal = request.signal ?? new AbortController().signal;
  const { storage } = request;
  const { runs, journal, output } = storage;
  const id = await runs.resolve(runRef);
  if (agent !== undefined) await checkAgent(storage, id, agent, follow);
  if (state !== undefined) await checkState(storage, id, state, follow);
  const tail = new TailWriter(request.write, request.tail ?? Number.POSITIVE_INFINITY);
  if (request.tail === undefined) tail.goOn();
  const write = (line: string): void => tail.write(line);
  const labels = new AgentLabels();
  const logWriter = new LogWriter(createColorizer(color), write, labels);
  const source: TurnLogSource = {
    logOf: (started, failed) => {
      const turn = turnRefOf(started);
      const folder = output.findFolder(id, turn);
      const pathOf = (stream: TurnStream): string => (folder === null ? stream : join(folder, stream));
      const nameOf = (stream: TurnStream): string => shorter(relative(cwd, pathOf(stream)), pathOf(stream));
      return { ...toTurnLog(id, storage, turn), failed, ...(folder !== null && { nameOf }) };
    },
    hasOutput: async (turn) => Object.keys(await output.sizes(id, turnRefOf(turn))).length > 0,
    signal,
  };
  const renderer = chooseRenderer(request, source, write, () => createTextRenderer(source, logWriter, labels));
  const isWanted = (event: Event): boolean =>
    (agent === undefined || !('agent' in event) || event.agent === agent) &&
    (state === undefined || !('state' in event) || isAboutState(event, state));
  const follower = new LogFollower(renderer, isWanted);
  let position = JOURNAL_START;
  const handle = async (step: JournaledStep): Promise<void> => {
    position = step;
    for (const event of step.change.events) {
      labels.observe(event);
      await follower.handleEvent(event);
      await request.drain?.();
      if (signal.aborted) return;
    }
  };
  try {
    const format = request.json ? 'json' : request.raw ? 'raw' : 'text';
    const { tail: lines } = request;
    if (lines !== undefined) position = await findLogTail(storage, id, { lines, format, isWanted }, labels);
    for await (const step of journal.read(id, position)) {
      await handle(step);
      if (signal.aborted) return;
    }
    if (follow && !follower.hasEnded) {
      logWriter.isInterleaved = true;
      tail.goOn();
      const left = new AbortController();
      const watching = abortWhenUndriven(runs, id, left, signal);
      try {
        follower.startFollowing();
        for await (const step of journal.follow(id, position, left.signal)) {
          await handle(step);
          if (signal.aborted) return;
          if (follower.hasEnded) break;
          follower.startFollowing();
        }
      } finally {
        left.abort();
        await watching;
      }
      if (signal.aborted) return;
    }
    await follower.finishOpenTurns();
    if (!follower.hasEnded) renderer.renderMessage(await describeRunStatus(storage, id));
  } finally {
    tail.goOn();
    follower.abandonOpenTurns();
  }
}

/** How often to check that the run still has a driver. */
const DRIVER_POLL_INTERVAL_MS = 500;

/** Aborts once nobody drives the run: what its driver wrote is in the journal by then. */
async function abortWhenUndriven(
  runs: RunCatalog,
  id: string,
  left: AbortController,
  signal: AbortSignal,
): Promise<void> {
  const over = AbortSignal.any([left.signal, signal]);
  while (!over.aborted && (await runs.isDriven(id)))
    await delay(DRIVER_POLL_INTERVAL_MS, undefined, { signal: over }).catch(() => {});
  left.abort();
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

/** True if a state is named by its file or by its name without the ending. */
const isStateNamed = (name: string, file: string | null): boolean =>
  file !== null && (file === name || stem(file) === name);

/** True if an event is about a state, or about the evaluator of that name. */
const isAboutState = (event: Extract<Event, { state: string | null }>, name: string): boolean =>
  isStateNamed(name, event.state) || ('evaluator' in event && isStateNamed(name, event.evaluator));

async function checkState(storage: RunStorage, id: string, state: string, mayComeLater: boolean): Promise<void> {
  if (mayComeLater && isLive((await storage.runs.observe(id)).observedStatus)) return;
  const states = new Set<string>();
  for await (const event of streamRunEvents(id, storage)) {
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

async function checkAgent(storage: RunStorage, id: string, agent: string, mayStartLater: boolean): Promise<void> {
  const { run, observedStatus } = await storage.runs.observe(id);
  const names = run.agents.map((each) => each.id);
  if (names.includes(agent) || (mayStartLater && isLive(observedStatus))) return;
  if (archivedCount(run) > 0 && (await hasStarted(storage, id, agent))) return;
  throw new RaymondError(`there is no agent ${agent} in run ${id}${didYouMean(agent, names)}`, {
    exitCode: EXIT.usage,
    hint: `\`raymond status ${id}\` shows its agents.`,
  });
}

/** True if the journal has the start of this agent: it may have ended and been archived. */
async function hasStarted(storage: RunStorage, id: string, agent: string): Promise<boolean> {
  for await (const event of streamRunEvents(id, storage))
    if (event.kind === 'agent_started' && event.agent === agent) return true;
  return false;
}

/** Describes the status of a run whose log does not end with its end. */
async function describeRunStatus({ runs }: RunStorage, id: string): Promise<string> {
  const { observedStatus, owner } = await runs.observe(id);
  if (isLive(observedStatus)) return `The run is still running: \`raymond logs ${id} --follow\` follows it.`;
  if (observedStatus !== 'crashed') return `The run has ended: ${observedStatus}.`;
  const pid = owner?.pid;
  const ownerText =
    pid === undefined ? 'No process drives this run any more' : `Process ${pid}, which drove this run, is gone`;
  return `${ownerText}. \`raymond resume ${id}\` continues with it.`;
}

const shorter = (a: string, b: string): string => (a.length < b.length ? a : b);

/** Puts the turns of a run in order: finished ones are written as a whole, running ones as they continue. */
class LogFollower {
  /** True if the run has ended. */
  hasEnded = false;
  private readonly renderer: LogRenderer;
  private readonly isWanted: (event: Event) => boolean;
  private readonly openTurns = new Map<string, OpenTurn>();

  constructor(renderer: LogRenderer, isWanted: (event: Event) => boolean) {
    this.renderer = renderer;
    this.isWanted = isWanted;
  }

  async handleEvent(event: Event): Promise<void> {
    if (event.kind === 'run_ended') this.hasEnded = true;
    if (event.kind === 'run_resumed') this.hasEnded = false;
    if (!this.isWanted(event)) return;
    if (event.kind === 'turn_started' && !this.renderer.eventsOnly) {
      this.openTurns.set(event.agent, { turn: event, live: null });
      return;
    }
    if (event.kind === 'turn_ended') await this.finishTurn(event);
    this.renderer.renderEvent(event);
  }

  /** From here on running turns are written as they continue. */
  startFollowing(): void {
    for (const [agent, { turn, live }] of this.openTurns) {
      if (live === null) this.openTurns.set(agent, { turn, live: followTurn(this.renderer, turn) });
    }
  }

  /** Writes the turns whose end is not known, as far as they have come. */
  async finishOpenTurns(): Promise<void> {
    for (const { turn, live } of this.openTurns.values()) {
      if (live === null) await this.renderer.renderTurn(turn, null);
      else await live.finish(null);
    }
    this.openTurns.clear();
  }

  /** Ends the following of all turns. */
  abandonOpenTurns(): void {
    for (const { live } of this.openTurns.values()) live?.finish(null).catch(() => {});
  }

  private async finishTurn(end: TurnEnded): Promise<void> {
    const openTurn = this.openTurns.get(end.agent);
    this.openTurns.delete(end.agent);
    if (openTurn === undefined) return;
    if (openTurn.live === null) await this.renderer.renderTurn(openTurn.turn, end);
    else await openTurn.live.finish(end);
  }
}

interface OpenTurn {
  readonly turn: TurnStarted;
  readonly live: { readonly finish: (end: TurnEnded | null) => Promise<void> } | null;
}

function followTurn(renderer: LogRenderer, turn: TurnStarted): NonNullable<OpenTurn['live']> {
  let settle: (end: TurnEnded | null) => void = () => {};
  const ended = new Promise<TurnEnded | null>((resolve) => {
    settle = resolve;
  });
  const rendered = renderer.renderLiveTurn(turn, ended);
  // The caller of `finish` gets the error.
  rendered.catch(() => {});
  return {
    finish(end) {
      settle(end);
      return rendered;
    },
  };
}

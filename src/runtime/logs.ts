import { relative } from 'node:path';
import { didYouMean } from '../core/nearest.ts';
import { isLive } from '../core/observed-status.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { LogWriter } from '../events/log-writer.ts';
import { createColorizer } from '../events/text-style.ts';
import { watchFile } from '../process/watch.ts';
import { readEvents } from '../store/journal-events.ts';
import { findLayout, type StoreLayout } from '../store/layout.ts';
import { observeRun } from '../store/observed-run.ts';
import { ownerOf } from '../store/owner.ts';
import { resolveRunId } from '../store/runs.ts';
import { LogFollower } from './logs/log-follower.ts';
import { createRawRenderer, createTextRenderer, type TurnLogSource } from './logs/log-renderers.ts';

/** How to write the log of a run. */
export interface LogsRequest {
  readonly cwd?: string;
  /** Write the log of this agent only. */
  readonly agent?: string;
  /** Whether to go on until the run ends. */
  readonly follow?: boolean;
  /** Whether to write the output of the turns unchanged. */
  readonly raw?: boolean;
  readonly color?: boolean;
  /** Ends the log early. */
  readonly signal?: AbortSignal;
  readonly write: (line: string) => void;
  /** For messages that are no part of the raw output. */
  readonly writeMessage: (text: string) => void;
}

/** How often to check that the owner is still there. */
const OWNER_POLL_INTERVAL_MS = 500;

/** Writes the log of a run from its files, and with `follow` goes on until the run ends. */
export async function writeLogs(runRef: string, request: LogsRequest): Promise<void> {
  const { cwd = process.cwd(), agent, follow = false, raw = false, color = false, write, writeMessage } = request;
  const signal = request.signal ?? new AbortController().signal;
  const layout = findLayout(cwd);
  const id = await resolveRunId(layout, runRef);
  if (agent !== undefined) await checkAgent(layout, id, agent, follow);
  const logWriter = new LogWriter(createColorizer(color), write);
  const source: TurnLogSource = {
    folderOf: ({ agent, turn: number, state }) => layout.turnFolder(id, { agent, number, state }),
    displayPath: (path) => shorter(relative(cwd, path), path),
    signal,
  };
  const renderer = raw ? createRawRenderer(source, write, writeMessage) : createTextRenderer(source, logWriter);
  const follower = new LogFollower(renderer, agent);
  const journalWatch = watchFile(layout.journalFile(id), OWNER_POLL_INTERVAL_MS);
  signal.addEventListener('abort', journalWatch.wake);
  try {
    let offset = 0;
    for (;;) {
      // Read before the journal: an owner that is gone by now writes nothing more.
      const owner = follow ? await ownerOf(layout.runFolder(id)) : undefined;
      for await (const { event, offset: end } of readEvents(layout, id, { offset })) {
        offset = end;
        await follower.handleEvent(event);
        if (signal.aborted) return;
      }
      const hasLiveOwner = owner !== undefined && owner.state !== 'gone';
      if (!follow || follower.hasEnded || !hasLiveOwner) break;
      logWriter.isInterleaved = true;
      follower.startFollowing();
      await journalWatch.next();
      if (signal.aborted) return;
    }
    await follower.finishOpenTurns();
    if (!follower.hasEnded) renderer.renderMessage(await describeRunStatus(layout, id));
  } finally {
    follower.abandonOpenTurns();
    signal.removeEventListener('abort', journalWatch.wake);
    journalWatch.close();
  }
}

async function checkAgent(layout: StoreLayout, id: string, agent: string, mayStartLater: boolean): Promise<void> {
  const { run, observedStatus } = await observeRun(layout, id);
  const names = run.agents.map((each) => each.id);
  if (names.includes(agent) || (mayStartLater && isLive(observedStatus))) return;
  throw new RaymondError(`there is no agent ${agent} in run ${id}${didYouMean(agent, names)}`, {
    exitCode: EXIT.usage,
    hint: `\`raymond status ${id}\` shows its agents.`,
  });
}

/** Describes the status of a run whose log does not end with its end. */
async function describeRunStatus(layout: StoreLayout, id: string): Promise<string> {
  const { observedStatus, owner } = await observeRun(layout, id);
  if (isLive(observedStatus)) return `The run is still running: \`raymond logs ${id} --follow\` follows it.`;
  if (observedStatus !== 'crashed') return `The run has ended: ${observedStatus}.`;
  const pid = owner?.pid;
  const ownerText =
    pid === undefined ? 'No process drives this run any more' : `Process ${pid}, which drove this run, is gone`;
  return `${ownerText}. \`raymond resume ${id}\` goes on with it.`;
}

const shorter = (a: string, b: string): string => (a.length < b.length ? a : b);

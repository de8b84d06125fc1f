import { relative } from 'node:path';
import { didYouMean } from '../core/nearest.ts';
import { isLive } from '../core/standing.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { dyeFor } from '../observers/ink.ts';
import { Page } from '../observers/page.ts';
import { watchFile } from '../process/watch.ts';
import { readEvents } from '../store/events.ts';
import { findRaymondFolder, type Layout, layoutOf } from '../store/layout.ts';
import { ownerOf } from '../store/owner.ts';
import { findRun } from '../store/runs.ts';
import { lookAt } from '../store/standing.ts';
import { Chronicle } from './chronicle.ts';
import { parrot, type Sources, storyteller } from './narrators.ts';

/** How a run's story is to be told. */
export interface LogsRequest {
  readonly cwd?: string;
  /** Only this agent. */
  readonly agent?: string;
  /** Whether to go on while the run goes on. */
  readonly follow?: boolean;
  /** Whether to repeat the lines of the turns as they are, instead of a story. */
  readonly raw?: boolean;
  readonly colour?: boolean;
  /** Nobody listens any more. */
  readonly enough?: AbortSignal;
  readonly write: (line: string) => void;
  /** For what is no part of the lines that were asked for. */
  readonly aside: (text: string) => void;
}

/** How often to look whether the owner is still there. */
const LOOK_MS = 500;

/** Tells the story of a run as it is on disk, and with `follow` as it goes on, until it ends. */
export async function tellLogs(wanted: string, request: LogsRequest): Promise<void> {
  const { cwd = process.cwd(), agent, follow = false, raw = false, colour = false, write, aside } = request;
  const enough = request.enough ?? new AbortController().signal;
  const layout = layoutOf(findRaymondFolder(cwd));
  const id = await findRun(layout, wanted);
  if (agent !== undefined) await checkAgent(layout, id, agent, follow);
  const page = new Page(dyeFor(colour), write);
  const sources: Sources = {
    folderOf: ({ agent, turn: number, state }) => layout.turn(id, { agent, number, state }),
    shown: (path) => shorter(relative(cwd, path), path),
    enough,
  };
  const narrator = raw ? parrot(sources, write, aside) : storyteller(sources, page);
  const chronicle = new Chronicle(narrator, agent);
  const watch = watchFile(layout.journal(id), LOOK_MS);
  enough.addEventListener('abort', watch.wake);
  try {
    let offset = 0;
    for (;;) {
      // Asked before reading: an owner that is gone by now has written all that it ever will.
      const owner = follow ? await ownerOf(layout.run(id)) : undefined;
      for await (const { event, offset: end } of readEvents(layout, id, { offset })) {
        offset = end;
        await chronicle.take(event);
        if (enough.aborted) return;
      }
      const isDriven = owner !== undefined && owner.state !== 'gone';
      if (!follow || chronicle.isOver || !isDriven) break;
      page.sideBySide = true;
      chronicle.goLive();
      await watch.next();
      if (enough.aborted) return;
    }
    await chronicle.close();
    if (!chronicle.isOver) narrator.remark(await standingOf(layout, id));
  } finally {
    chronicle.giveUp();
    enough.removeEventListener('abort', watch.wake);
    watch.close();
  }
}

async function checkAgent(layout: Layout, id: string, agent: string, mayCome: boolean): Promise<void> {
  const { run, standing } = await lookAt(layout, id);
  const names = run.agents.map((each) => each.id);
  if (names.includes(agent) || (mayCome && isLive(standing))) return;
  throw new RaymondError(`there is no agent ${agent} in run ${id}${didYouMean(agent, names)}`, {
    exitCode: EXIT.usage,
    hint: `\`raymond status ${id}\` shows its agents.`,
  });
}

/** How a run stands that has not come to its end. */
async function standingOf(layout: Layout, id: string): Promise<string> {
  const { standing, owner } = await lookAt(layout, id);
  if (isLive(standing)) return `The run is under way: \`raymond logs ${id} --follow\` goes on telling.`;
  if (standing !== 'crashed') return `The run has ended: ${standing}.`;
  const pid = owner?.pid;
  const who = pid === undefined ? 'Nobody drives this run any more' : `Process ${pid}, which drove this run, is gone`;
  return `${who}. \`raymond resume ${id}\` goes on with it.`;
}

const shorter = (a: string, b: string): string => (a.length < b.length ? a : b);

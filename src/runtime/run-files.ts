import { existsSync } from 'node:fs';
import type { Event } from '../core/event.ts';
import type { Options } from '../core/options.ts';
import type { Run } from '../core/run.ts';
import { AgentLabels } from '../events/agent-labels.ts';
import type { RunHistory } from '../events/run-history.ts';
import { findLayout, resolveDebugFolder } from '../store/layout.ts';
import { observeRun } from '../store/observed-run.ts';
import { listRunIds, resolveRunId } from '../store/runs.ts';
import { openRuns, type RunLocation } from './open-runs.ts';

/** The ids of the runs of this folder, sorted. */
export const listRunIdsHere = (cwd: string): Promise<readonly string[]> => listRunIds(findLayout(cwd));

/** Reads all events of a run that is on disk, in order. */
export async function readRunEvents(id: string, location: RunLocation = process.cwd()): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const event of streamRunEvents(id, location)) events.push(event);
  return events;
}

/** Reads all events of a run that is on disk, in order, one after the other: a long run has more than fit into memory. */
export async function* streamRunEvents(id: string, location: RunLocation = process.cwd()): AsyncGenerator<Event> {
  for await (const { event } of openRuns(location).readEvents(id)) yield event;
}

/** Reads the history of a run that has just been driven, without the labels of archived agents. */
export async function readRunHistory(run: Run, location: RunLocation): Promise<RunHistory> {
  const { history } = await openRuns(location).loadHistory(run.id, run.seq);
  return { ...history, labels: new AgentLabels(run.agents) };
}

/** The names that a run consists of: the states that its agents have been in, and the agents. */
export interface RunNames {
  readonly states: readonly string[];
  readonly agents: readonly string[];
}

/** Reads the names of a run, given as for `readRunOptions`; those of archived agents are left out. */
export async function readRunNames(runRef: string, cwd: string): Promise<RunNames> {
  const layout = findLayout(cwd);
  const { agents } = (await observeRun(layout, await resolveRunId(layout, runRef))).run;
  const states = new Set(agents.flatMap(({ visits }) => Object.keys(visits)));
  return { states: [...states].sort(), agents: agents.map(({ id }) => id) };
}

/** Reads the options that a run remembers, given by its id, a unique beginning of it, or `last`. */
export async function readRunOptions(runRef: string, cwd: string): Promise<Options> {
  const layout = findLayout(cwd);
  return (await observeRun(layout, await resolveRunId(layout, runRef))).run.options;
}

/** Finds the folder with the debug files of a run; null if the run keeps none, or the folder could not be made. */
export async function findDebugFolder({ id, startedAt, options }: Run, cwd = process.cwd()): Promise<string | null> {
  if (!options.debug) return null;
  const folder = await resolveDebugFolder(findLayout(cwd), id, startedAt);
  return existsSync(folder) ? folder : null;
}

import { existsSync } from 'node:fs';
import type { RiskyOption } from '../config/config.ts';
import type { Options } from '../core/options/options.ts';
import type { Event } from '../core/run/event.ts';
import type { Run } from '../core/run/run.ts';
import { findLayout, resolveDebugFolder } from '../disk/layout.ts';
import { AgentLabels } from '../render/agent-labels.ts';
import type { RunHistory } from '../render/run-history.ts';
import { observeRun } from '../storage/files/observed-run.ts';
import { listRunIds, resolveRunId } from '../storage/files/runs.ts';
import { afterStep, type JournaledStep, type RunStorage } from '../storage/storage.ts';
import { loadHistory } from '../wiring/history-file.ts';
import { findStoredRisks, isSealed } from './trust/run-seal.ts';

/** The ids of the runs of this folder, sorted. */
export const listRunIdsHere = (cwd: string): Promise<readonly string[]> => listRunIds(findLayout(cwd));

/** Reads all events of a run, in order. */
export async function readRunEvents(id: string, storage: RunStorage): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const event of streamRunEvents(id, storage)) events.push(event);
  return events;
}

/** Reads the events of a run up to a step, in order, one after the other: a long run has more than fit into memory. */
export async function* streamRunEvents(
  id: string,
  { journal }: Pick<RunStorage, 'journal'>,
  upToSeq = Number.POSITIVE_INFINITY,
): AsyncGenerator<Event> {
  for await (const { seq, change } of journal.read(id)) {
    if (seq > upToSeq) return;
    yield* change.events;
  }
}

/** Reads the history of a run that has just been driven, without the labels of archived agents. */
export async function readRunHistory(run: Run, storage: RunStorage): Promise<RunHistory> {
  const { history } = await loadHistory(storage.journal, run.id, run.seq);
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

/** Reads what a run has stored that this user has not chosen, and whether this user has started it; `changes` are options that are set now. */
export async function readStoredRisks(
  runRef: string,
  changes: Partial<Options>,
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<{ readonly id: string; readonly isOwn: boolean; readonly risks: readonly RiskyOption[] }> {
  const layout = findLayout(cwd);
  const id = await resolveRunId(layout, runRef);
  const { run } = await observeRun(layout, id);
  return { id, isOwn: isSealed(layout, run, env), risks: findStoredRisks(layout, run, changes, { cwd, env }) };
}

/** Finds the folder with the debug files of a run; null if the run keeps none, or the folder could not be made. */
export async function findDebugFolder({ id, startedAt, options }: Run, cwd = process.cwd()): Promise<string | null> {
  if (!options.debug) return null;
  const folder = await resolveDebugFolder(findLayout(cwd), id, startedAt);
  return existsSync(folder) ? folder : null;
}

/** The events of one step of a run, under its number in the journal. */
export interface RunStep {
  readonly seq: number;
  readonly events: readonly Event[];
}

/** Reads the steps of a run after a step, as far as the journal has them. */
export const readSteps = (id: string, { journal }: RunStorage, after: number): AsyncGenerator<RunStep> =>
  toRunSteps(journal.read(id, afterStep(after)));

/** Follows a run: its steps after a step, those to come included, until the signal. It continues when the run is resumed. */
export const followSteps = (
  id: string,
  { journal }: RunStorage,
  after: number,
  stop: AbortSignal,
): AsyncGenerator<RunStep> => toRunSteps(journal.follow(id, afterStep(after), stop));

/** Steps without events are of no interest. */
async function* toRunSteps(steps: AsyncIterable<JournaledStep>): AsyncGenerator<RunStep> {
  for await (const { seq, change } of steps) if (change.events.length > 0) yield { seq, events: change.events };
}

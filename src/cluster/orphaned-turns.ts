import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDone } from '../core/run/agent.ts';
import type { Run } from '../core/run/run.ts';
import type { FolderLayout } from '../disk/layout.ts';
import { END_GRACE_MS, endTurn } from '../process/end.ts';
import { processTable } from '../process/process-table.ts';
import { recordedWrapper } from '../process/turn-files.ts';
import type { Database } from '../storage/postgres/database.ts';
import { loadRunRows } from '../storage/postgres/run-rows.ts';

/*
 * A worker that was gone may find processes of turns that nobody waits for any more, because their agents have continued elsewhere or
 * have failed. What they do from now on would be done twice, so they are ended. Nothing that they have said counts.
 */

/** A worker, and its folder: other workers of the same machine have processes of the same runs. */
export interface Finder {
  readonly name: string;
  readonly database: Database;
  readonly layout: FolderLayout;
  readonly warn: (message: string) => void;
}

/** Ends what this worker has started and nobody waits for, in all runs that others drive. */
export async function endOrphanedTurns(finder: Finder): Promise<void> {
  const runs = new Set((await processTable()).flatMap(({ marker }) => (marker ? [firstPart(marker)] : [])));
  if (runs.size === 0) return;
  const rows = await finder.database.query<{ id: string }>(
    `select id from raymond.runs where id = any($1) and (driver <> $2 or status <> 'running')`,
    [[...runs], finder.name],
  );
  // Unreadable files are read again later.
  for (const { id } of rows) await endOrphanedTurnsOf(finder, id).catch(() => {});
}

/** Does so in one run. */
export async function endOrphanedTurnsOf({ name, database, layout }: Finder, id: string): Promise<void> {
  const { run, mark } = await loadRunRows(database, id);
  const prefix = `${id}/${mark ?? id}/`;
  const markers = new Set((await processTable()).flatMap(({ marker }) => (marker?.startsWith(prefix) ? [marker] : [])));
  for (const marker of markers) {
    const [agent = '', number = '', ahead] = marker.slice(prefix.length).split('/');
    if (isAtHome(run, agent, name)) continue;
    const opened = `${layout.conversationFolder(id, { agent, number: Number(number) })}${ahead === undefined ? '' : '.ahead'}`;
    const folder = [opened, ...findTurnFolders(layout, id, agent, Number(number))].find(
      (each) => recordedWrapper(each) !== undefined,
    );
    if (folder !== undefined) await endTurn(folder, marker, { graceMs: END_GRACE_MS });
  }
}

const firstPart = (marker: string): string => marker.slice(0, marker.indexOf('/'));

/** True if a turn of an agent may be under way on this worker. */
function isAtHome({ agents, status }: Run, id: string, worker: string): boolean {
  const agent = agents.find((each) => each.id === id);
  return status === 'running' && agent !== undefined && agent.node === worker && !isDone(agent);
}

/** The folders of a turn on this worker: one, or none. */
export function findTurnFolders(layout: FolderLayout, run: string, agent: string, number: number): readonly string[] {
  const folder = layout.turnsFolder(run);
  try {
    return readdirSync(folder)
      .filter((name) => layout.parseTurnFolder(name, agent)?.number === number)
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

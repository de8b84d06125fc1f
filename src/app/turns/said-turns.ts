import type { TurnRef } from '../../core/turns/due.ts';
import type { LogEntry } from '../../render/turn-renderer.ts';
import type { RunStorage } from '../../storage/storage.ts';
import { readLogEntries, toTurnLog } from '../logs/turn-log-entries.ts';
import { isShownLive, MAX_DELTA_ENTRIES, type TurnDelta } from './turn-delta.ts';

/** The last activity of ended turns, as their watchers saw it; turns without files have none. */
export async function readSaidTurns(
  id: string,
  storage: RunStorage,
  turns: readonly TurnRef[],
): Promise<readonly TurnDelta[]> {
  const said: TurnDelta[] = [];
  for (const turn of turns) {
    let latest: LogEntry[] = [];
    let count = 0;
    try {
      for await (const entry of readLogEntries(toTurnLog(id, storage, turn))) {
        if (!isShownLive(entry)) continue;
        count += 1;
        latest.push(entry);
        if (latest.length > 2 * MAX_DELTA_ENTRIES) latest = latest.slice(-MAX_DELTA_ENTRIES);
      }
    } catch {}
    const entries = latest.slice(-MAX_DELTA_ENTRIES);
    if (entries.length > 0) said.push({ ...turn, first: count - entries.length, entries });
  }
  return said;
}

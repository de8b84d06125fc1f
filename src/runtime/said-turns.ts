import type { TurnRef } from '../core/due.ts';
import type { LogEntry } from '../events/turn-renderer.ts';
import { readLogEntries } from './logs/turn-log-entries.ts';
import { openRuns, type RunLocation } from './open-runs.ts';
import { isShownLive, MAX_DELTA_ENTRIES, type TurnDelta } from './turn-delta.ts';

/** What turns that have ended said and did at their end, as those who watched them got it; files that are gone have nothing to tell. */
export async function readSaidTurns(
  run: { readonly id: string; readonly location: RunLocation },
  turns: readonly TurnRef[],
): Promise<readonly TurnDelta[]> {
  const runs = openRuns(run.location);
  const said: TurnDelta[] = [];
  for (const turn of turns) {
    const folder = await runs.turnFolder(run.id, turn);
    const log = { folder, state: turn.state, failed: false, displayPath: (path: string) => path };
    let latest: LogEntry[] = [];
    let count = 0;
    try {
      for await (const entry of readLogEntries(log)) {
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

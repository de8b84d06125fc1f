import type { TurnRef } from '../core/due.ts';
import type { LogEntry } from '../events/turn-renderer.ts';
import { findLayout } from '../store/layout.ts';
import { readLogEntries } from './logs/turn-log-entries.ts';
import { isShownLive, type TurnDelta } from './turn-deltas.ts';

/** More of one turn is for whoever looks at that turn. */
const MAX_ENTRIES = 50;

/** What turns that have ended said and did at their end, as those who watched them got it; files that are gone have nothing to tell. */
export async function readSaidTurns(
  run: { readonly id: string; readonly cwd: string },
  turns: readonly TurnRef[],
): Promise<readonly TurnDelta[]> {
  const layout = findLayout(run.cwd);
  const said: TurnDelta[] = [];
  for (const turn of turns) {
    const folder = layout.turnFolder(run.id, turn);
    const log = { folder, state: turn.state, failed: false, displayPath: (path: string) => path };
    let latest: LogEntry[] = [];
    let count = 0;
    try {
      for await (const entry of readLogEntries(log)) {
        if (!isShownLive(entry)) continue;
        count += 1;
        latest.push(entry);
        if (latest.length > 2 * MAX_ENTRIES) latest = latest.slice(-MAX_ENTRIES);
      }
    } catch {}
    const entries = latest.slice(-MAX_ENTRIES);
    if (entries.length > 0) said.push({ ...turn, first: count - entries.length, entries });
  }
  return said;
}

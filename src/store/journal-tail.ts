import { stat } from 'node:fs/promises';
import type { Event } from '../core/event.ts';
import { tryParseJson } from '../core/json.ts';
import { readLinesBackwards } from '../process/lines.ts';
import { isLineStart } from './journal-lines.ts';

/**
 * Finds where to begin to read a journal if only its end is wanted: at the first line, from the end on, with whose events `isEnough`
 * is content. It gets the events from the last to the first. At the beginning if that never happens, or a line is not understood or the file is missing.
 */
export async function findTailOffset(
  file: string,
  isEnough: (event: Event) => boolean | Promise<boolean>,
): Promise<number> {
  const stats = await stat(file).catch(() => null);
  if (stats === null) return 0;
  let offset = stats.size + 1;
  for await (const line of readLinesBackwards(file)) {
    offset -= line.length + 1;
    const data = line.length === 0 ? { events: [] } : tryParseJson(line.toString('utf8'));
    if (typeof data !== 'object' || data === null || !('events' in data) || !Array.isArray(data.events)) return 0;
    const events: readonly Event[] = data.events;
    let isContent = false;
    // All of them are looked at: a line is read as a whole.
    for (const event of events.toReversed()) isContent = (await isEnough(event)) || isContent;
    if (!isContent) continue;
    // Not if the file has grown meanwhile.
    return offset > 0 && (await isLineStart(file, offset)) ? offset : 0;
  }
  return 0;
}

import { sanitizeLine } from '../../sanitize.ts';
import { padToWidth, shorten, widthOf } from '../../text-width.ts';
import type { StateCounts } from './agent-groups.ts';
import type { LiveContext } from './agent-lines.ts';

const MAX_STATE_COLUMNS = 30;

/** A line for each state: how many agents are doing what in it. */
export function renderStateLines(
  states: readonly StateCounts[],
  { columns, colorize }: LiveContext,
): readonly string[] {
  const names = states.map(({ state }) => shorten(sanitizeLine(state), Math.min(MAX_STATE_COLUMNS, columns / 2)));
  const width = Math.max(0, ...names.map(widthOf));
  return states.map((counts, at) => {
    const name = colorize('bold', padToWidth(names[at] ?? '', width));
    return `  ${name}  ${shorten(formatStateCounts(counts), Math.max(0, columns - width - 4))}`;
  });
}

/** `8 running, 54 waiting, 37 done`, without what there is none of. */
const formatStateCounts = ({ state: _, ...counts }: StateCounts): string =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${count} ${what}`)
    .join(', ');

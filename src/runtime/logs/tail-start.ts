import { type Agent, recordedTurn } from '../../core/agent.ts';
import type { Event } from '../../core/event.ts';
import type { AgentLabels } from '../../events/agent-labels.ts';
import type { RunReader } from '../run-reader.ts';

/**
 * Finds where in the journal the last lines of a log begin at the latest, and tells the labels of the agents that were started
 * before. A turn has at least one line, and an event as JSON has one.
 */
export async function findLogTail(
  runs: RunReader,
  id: string,
  { lines, json }: { readonly lines: number; readonly json: boolean },
  labels: AgentLabels,
): Promise<number> {
  const { run } = await runs.observeRun(id);
  // One turn more than wanted: the heading of the first has the date, too.
  const isEnough = json ? countEvents(Math.max(1, lines)) : countTurns(lines + 1, openTurnsOf(run.agents));
  const offset = (await runs.findTail?.(id, isEnough)) ?? 0;
  // Those that were archived are known by their ids only.
  if (offset > 0) labels.add(run.agents);
  return offset;
}

const keyOf = (agent: string, turn: number): string => `${agent}/${turn}`;

const openTurnsOf = (agents: readonly Agent[]): Set<string> =>
  new Set(
    agents.flatMap(({ id, phase }) => {
      const turn = recordedTurn(phase);
      return turn === null ? [] : [keyOf(id, turn.number)];
    }),
  );

function countEvents(wanted: number): (event: Event) => boolean {
  let count = 0;
  return () => ++count >= wanted;
}

/** Content once so many turns have ended and the starts of all of them, and of those that are under way, are there. */
function countTurns(wanted: number, missingStarts: Set<string>): (event: Event) => boolean {
  let count = 0;
  return (event) => {
    if (event.kind === 'turn_ended') {
      count += 1;
      missingStarts.add(keyOf(event.agent, event.turn));
    }
    if (event.kind === 'turn_started') missingStarts.delete(keyOf(event.agent, event.turn));
    return count >= wanted && missingStarts.size === 0;
  };
}

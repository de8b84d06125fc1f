import { statSync } from 'node:fs';
import { type Agent, recordedTurn } from '../../core/agent.ts';
import { turnRefOf } from '../../core/due.ts';
import type { Event, TurnEnded } from '../../core/event.ts';
import type { AgentLabels } from '../../events/agent-labels.ts';
import type { RunReader } from '../run-reader.ts';
import { rawOutputFiles } from './log-renderers.ts';

/** The last lines of a log. */
interface LogTail {
  readonly lines: number;
  readonly format: 'text' | 'json' | 'raw';
  /** Whether an event is part of the log. */
  readonly isWanted: (event: Event) => boolean;
}

/**
 * Finds where in the journal the last lines of a log begin at the latest, and tells the labels of the agents that were started
 * before. A turn has at least one line, its raw output if that is not empty, and an event as JSON has one.
 */
export async function findLogTail(
  runs: RunReader,
  id: string,
  { lines, format, isWanted }: LogTail,
  labels: AgentLabels,
): Promise<number> {
  const { run } = await runs.observeRun(id);
  const hasLine = async (end: TurnEnded): Promise<boolean> => {
    const turn = turnRefOf(end);
    if (!isWanted(end) || format === 'text') return isWanted(end);
    return rawOutputFiles(await runs.turnFolder(id, turn), turn.state).some(isFilled);
  };
  // One turn more than wanted: the heading of the first has the date, too.
  const isEnough =
    format === 'json'
      ? countEvents(Math.max(1, lines), isWanted)
      : countTurns(lines + 1, hasLine, openTurnsOf(run.agents));
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

const isFilled = (file: string): boolean => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;

function countEvents(wanted: number, isWanted: (event: Event) => boolean): (event: Event) => boolean {
  let count = 0;
  return (event) => {
    if (isWanted(event)) count += 1;
    return count >= wanted;
  };
}

/** Content once so many turns have ended and the starts of all of them, and of those that are under way, are there. */
function countTurns(
  wanted: number,
  hasLine: (turn: TurnEnded) => Promise<boolean>,
  missingStarts: Set<string>,
): (event: Event) => Promise<boolean> {
  let count = 0;
  return async (event) => {
    if (event.kind === 'turn_ended') {
      if (count < wanted && (await hasLine(event))) count += 1;
      missingStarts.add(keyOf(event.agent, event.turn));
    }
    if (event.kind === 'turn_started') missingStarts.delete(keyOf(event.agent, event.turn));
    return count >= wanted && missingStarts.size === 0;
  };
}

import { type Agent, recordedTurn } from '../../core/run/agent.ts';
import type { Event, TurnEnded } from '../../core/run/event.ts';
import { turnRefOf } from '../../core/turns/due.ts';
import type { AgentLabels } from '../../render/agent-labels.ts';
import type { JournalPosition } from '../../storage/run-file.ts';
import { JOURNAL_START, type JournalReader, type RunStorage } from '../../storage/storage.ts';
import { rawStreams } from './log-renderers.ts';

/** The last lines of a log. */
interface LogTail {
  readonly lines: number;
  readonly format: 'text' | 'json' | 'raw';
  /** True if an event is part of the log. */
  readonly isWanted: (event: Event) => boolean;
}

/**
 * Finds the position in the journal at which the last lines of a log begin at the latest, and tells the labels of the agents that were started
 * before. A turn has at least one line, its raw output if that is not empty, and an event as JSON has one.
 */
export async function findLogTail(
  { runs, journal, output }: RunStorage,
  id: string,
  { lines, format, isWanted }: LogTail,
  labels: AgentLabels,
): Promise<JournalPosition> {
  const { run } = await runs.observe(id);
  const hasLine = async (end: TurnEnded): Promise<boolean> => {
    const turn = turnRefOf(end);
    if (!isWanted(end) || format === 'text') return isWanted(end);
    const sizes = await output.sizes(id, turn);
    return rawStreams(turn.state).some((stream) => (sizes[stream] ?? 0) > 0);
  };
  // One turn more than wanted: the heading of the first has the date, too.
  const isEnough =
    format === 'json'
      ? countEvents(Math.max(1, lines), isWanted)
      : countTurns(lines + 1, hasLine, openTurnsOf(run.agents));
  const start = await findStart(journal, id, isEnough);
  // Those that were archived are known by their ids only.
  if (start !== JOURNAL_START) labels.add(run.agents);
  return start;
}

/** The position before the first step, from the end on, with which there is enough. */
async function findStart(
  journal: JournalReader,
  id: string,
  isEnough: (event: Event) => boolean | Promise<boolean>,
): Promise<JournalPosition> {
  let isContent = false;
  for await (const { seq, offset, change } of journal.readBackwards(id)) {
    if (isContent) return { seq, offset };
    // All of them are looked at: a step is read as a whole.
    for (const event of change.events.toReversed()) isContent = (await isEnough(event)) || isContent;
  }
  return JOURNAL_START;
}

const keyOf = (agent: string, turn: number): string => `${agent}/${turn}`;

const openTurnsOf = (agents: readonly Agent[]): Set<string> =>
  new Set(
    agents.flatMap(({ id, phase }) => {
      const turn = recordedTurn(phase);
      return turn === null ? [] : [keyOf(id, turn.number)];
    }),
  );

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

/** Holds lines back until it is told to continue, and then writes only the last of them. */
export class TailWriter {
  private readonly held: string[] = [];
  private readonly target: (line: string) => void;
  private readonly maxLines: number;
  private isHolding = true;

  constructor(write: (line: string) => void, maxLines: number) {
    this.target = write;
    this.maxLines = maxLines;
  }

  write(line: string): void {
    if (!this.isHolding) {
      this.target(line);
      return;
    }
    this.held.push(line);
    // Cut now and then: to drop the first of many at each line would be slow.
    if (this.held.length > 2 * this.maxLines + 1_000) this.held.splice(0, this.held.length - this.maxLines);
  }

  /** Writes the last lines, and from now on each at once. */
  goOn(): void {
    if (!this.isHolding) return;
    this.isHolding = false;
    for (const line of this.held.slice(Math.max(0, this.held.length - this.maxLines))) this.target(line);
    this.held.length = 0;
  }
}

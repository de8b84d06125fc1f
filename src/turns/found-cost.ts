import { existsSync } from 'node:fs';
import { locatedRef, readTurnLocator } from '../conversations/records.ts';
import type { CostReport } from '../core/run/ledger.ts';
import type { TurnRef } from '../core/turns/due.ts';
import type { ProcessRef } from '../process/command.ts';
import { followLines } from '../process/lines.ts';
import { turnMarker } from '../process/marker.ts';
import { turnFiles } from '../process/turn-files.ts';
import { computeTurnCost, readCostBaseline } from './claude/cost.ts';
import { parseClaudeBytes } from './claude/event.ts';
import { addClaudeEvent, EMPTY_TRANSCRIPT } from './claude/transcript.ts';
import { cannedCost, REPLAY_MODEL } from './replay/output.ts';
import type { TurnContext } from './turn-context.ts';

/** The facts that determine the places of a turn's files and processes. */
export type TurnPlaces = Pick<TurnContext, 'runMarker' | 'conversationFolder' | 'folderOf' | 'warn'>;

/** The place of the process that a turn has, of its own or as part of a conversation that stays open. */
export function findTurnPlace(places: TurnPlaces, turn: TurnRef, folder: string): ProcessRef {
  const locator = readTurnLocator(folder);
  return locator === null ? { dir: folder, marker: turnMarker(places, turn) } : locatedRef(places, turn.agent, locator);
}

/** Reads the conversation and the cost of a turn from the files that it has left in this folder; null for what they do not tell. */
export async function readTurnCost(
  places: TurnPlaces,
  turn: TurnRef,
  folder: string,
): Promise<{ readonly session: string | null; readonly cost: CostReport | null }> {
  const locator = readTurnLocator(folder);
  // Only who takes a turn copies what it says to its folder.
  const open = locator === null ? null : locatedRef(places, turn.agent, locator);
  const isOpen = open !== null && existsSync(turnFiles(open.dir).stdout);
  const { stdout } = turnFiles(isOpen ? open.dir : folder);
  let transcript = EMPTY_TRANSCRIPT;
  const add = (line: Buffer): void => {
    transcript = addClaudeEvent(transcript, parseClaudeBytes(line));
  };
  await followLines(stdout, add, { until: Promise.resolve(), from: isOpen ? (locator?.stdout ?? 0) : 0 }).catch(
    () => {},
  );
  const { sessionId: session } = transcript;
  if (session === null) return { session, cost: null };
  const computed = computeTurnCost(transcript, readCostBaseline(places, turn, folder));
  return { session, cost: transcript.model === REPLAY_MODEL ? cannedCost(computed) : computed };
}

import type { SessionUse } from '../../core/agent.ts';
import type { ClaudeTurn } from '../../core/due.ts';
import { lastWriteTimeMs, readLines } from '../../process/lines.ts';
import { turnFiles } from '../../process/turn-files.ts';
import type { ProcessEnd, Supervision } from '../process-turn.ts';
import type { TurnContext } from '../turn-context.ts';
import { findSessionFile, hasPrompt } from './session-file.ts';
import type { TurnReading } from './turn-reading.ts';

/** A turn in a conversation that stays open. */
export interface OpenTurn {
  readonly turn: ClaudeTurn;
  readonly session: SessionUse;
  readonly reading: TurnReading;
  readonly supervision: Omit<Supervision, 'onRunning'>;
}

/**
 * Reads a turn whose conversation is closed and removed, which happens only after the end of the turn was on disk: the
 * journal has lost that, but the turn's own folder has its output.
 */
export async function readSlice({ folderOf, clock }: TurnContext, { turn, reading }: OpenTurn): Promise<ProcessEnd> {
  const { stdout, started } = turnFiles(folderOf(turn));
  for await (const line of readLines(stdout)) reading.add(line);
  const atMs = clock.fromFileTime(Math.round(await lastWriteTimeMs([started, stdout])));
  return { kind: 'ended', exit: { kind: 'exited', code: 0 }, endCause: 'exited', found: 'over', atMs };
}

/** Looks in the conversation for what was written into a turn and not been echoed: its process may have ended in between. */
export async function findWords(
  context: TurnContext,
  configDir: string,
  { turn, session, reading }: OpenTurn,
): Promise<void> {
  const { unheardIds } = reading;
  if (unheardIds.length === 0) return;
  const file = await findSessionFile(configDir, turn.cwd, session.id);
  if (file === null) return;
  for (const id of unheardIds) if (await hasPrompt(file, id)) context.hear(turn, id);
}

/** Whether Claude Code has taken a prompt: it says so when it begins, and writes it into the conversation. */
export async function wasTaken(
  configDir: string,
  { turn, session, reading }: OpenTurn,
  uuid: string,
): Promise<boolean> {
  const { opened, ownResult } = reading.transcript;
  if (opened || ownResult !== null) return true;
  const file = await findSessionFile(configDir, turn.cwd, session.id);
  return file !== null && hasPrompt(file, uuid);
}

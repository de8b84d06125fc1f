import { existsSync } from 'node:fs';
import { type TurnLocator, TurnSlice } from '../../conversations/records.ts';
import type { SessionUse } from '../../core/run/agent.ts';
import type { PromptTurn } from '../../core/turns/due.ts';
import type { ProcessRef } from '../../process/command.ts';
import { END_GRACE_MS, endTurn } from '../../process/end.ts';
import { isOutputLost } from '../../process/full-disk.ts';
import { followLines, lastWriteTimeMs, readLines } from '../../process/lines.ts';
import { turnFiles } from '../../process/turn-files.ts';
import { adoptTurn, type ProcessEnd, type Supervision } from '../process-turn.ts';
import type { TurnContext } from '../turn-context.ts';
import { readCostBaseline } from './cost.ts';
import type { ClaudeOutcome } from './outcome.ts';
import { findSessionFile, hasPrompt } from './session-file.ts';
import type { TurnReading } from './turn-reading.ts';

/** A turn that is being taken. */
export interface ReadTurn {
  readonly turn: PromptTurn;
  readonly session: SessionUse;
  readonly reading: TurnReading;
  readonly supervision: Omit<Supervision, 'onRunning'>;
}

/** A turn whose process has ended, or has answered and waits for the next prompt. */
export interface EndedTurnProcess {
  readonly end: ProcessEnd;
  /** True if a full disk kept part of its output from being written. */
  readonly outputLost: boolean;
  /** Does what is left to do once the outcome is known; true if the conversation can continue in the same process. */
  readonly finish: (outcome: ClaudeOutcome) => Promise<boolean>;
}

/** Finds a turn that an earlier process of Raymond has begun. Its process has seen the end of its input, so it ends with the turn. */
export async function recoverTurn(
  context: TurnContext,
  configDir: string,
  left: ReadTurn,
  locator: TurnLocator,
  process: ProcessRef,
): Promise<EndedTurnProcess> {
  const { turn, reading, supervision } = left;
  const isOpener = locator.ahead === undefined && locator.opener === turn.number;
  for (const { id } of turn.words) reading.expectEcho(id);
  if (!existsSync(process.dir)) return { ...NOTHING_LEFT, end: await readSlice(context, left) };
  if (turn.budgetMicros !== null && !isOpener)
    reading.limitCost(turn.budgetMicros, readCostBaseline(context, turn).prices);
  const slice = new TurnSlice(context.folderOf(turn));
  let read: Promise<void> = Promise.resolve();
  const onRunning = (until: Promise<unknown>): void => {
    const onLine = (line: Buffer): void => {
      slice.add(line);
      reading.add(line);
    };
    read = followLines(turnFiles(process.dir).stdout, onLine, { until, from: locator.stdout });
  };
  const end = await adoptTurn(context, turn, { ...supervision, onRunning }, process);
  await read;
  slice.close(process.dir, locator.stderr);
  await findMessages(context, configDir, left);
  const isClean = end.kind === 'ended' && end.exit.kind === 'exited' && end.exit.code === 0;
  // Without an input Claude Code just ends; an exit code tells of a failure to open the conversation.
  const mayHaveMissedIt = end.kind === 'ended' && (!isOpener || isClean);
  const isMissed = mayHaveMissedIt && !(await wasTaken(configDir, left, locator.uuid));
  const finish = async (): Promise<false> => {
    if (end.kind === 'ended' && !isClean) await endTurn(process.dir, process.marker, { graceMs: END_GRACE_MS });
    return false;
  };
  if (isMissed) await finish();
  const seen: ProcessEnd = isMissed ? { kind: 'never_started', atMs: end.atMs } : end;
  return { end: seen, outputLost: isOutputLost(process.dir), finish };
}

/** The parts of an ended turn of which nothing runs. */
export const NOTHING_LEFT = { outputLost: false, finish: async (): Promise<boolean> => false } as const;

/**
 * Reads a turn whose conversation is closed and removed, which happens only after the end of the turn was on disk: the
 * journal has lost that, but the turn's own folder has its output.
 */
async function readSlice({ folderOf, clock }: TurnContext, { turn, reading }: ReadTurn): Promise<ProcessEnd> {
  const { stdout, started } = turnFiles(folderOf(turn));
  for await (const line of readLines(stdout)) reading.add(line);
  const atMs = clock.fromFileTime(Math.round(await lastWriteTimeMs([started, stdout])));
  return { kind: 'ended', exit: { kind: 'exited', code: 0 }, endCause: 'exited', found: 'over', atMs };
}

/** Looks in the session for messages that were written into a turn and not echoed: its process may have ended in between. */
export async function findMessages(
  context: TurnContext,
  configDir: string,
  { turn, session, reading }: ReadTurn,
): Promise<void> {
  const { unheardIds } = reading;
  if (unheardIds.length === 0) return;
  const file = await findSessionFile(configDir, turn.cwd, session.id);
  if (file === null) return;
  for (const id of unheardIds) if (await hasPrompt(file, id)) context.hear(turn, id);
}

/** True if Claude Code has taken a prompt: it says so when it begins, and writes it into the session. */
export async function wasTaken(configDir: string, read: ReadTurn, promptId: string): Promise<boolean> {
  const { turn, session, reading } = read;
  const { opened, ownResult } = reading.transcript;
  if (opened || ownResult !== null) return true;
  const file = await findSessionFile(configDir, turn.cwd, session.id);
  return file !== null && hasPrompt(file, promptId);
}

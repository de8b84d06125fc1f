import { createHash } from 'node:crypto';
import type { TurnRef } from '../../core/turns/due.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import { splitChunks } from '../../process/lines.ts';
import type { RunStorage } from '../../storage/storage.ts';
import { parseClaudeBytes } from '../../turns/claude/event.ts';
import { addClaudeEvent, EMPTY_TRANSCRIPT } from '../../turns/claude/transcript.ts';
import type { TurnPoint } from './points.ts';

/** The last message of each conversation at a moment of a run, as far as it is known, and the turn that it is of. */
export interface SessionEnds {
  readonly messages: ReadonlyMap<string, string>;
  /** The last turns whose messages are not in the journal, by conversation. */
  readonly unknown: ReadonlyMap<string, TurnRef>;
}

/** Finds where the conversations of a run ended before a step, or after it. */
export async function readSessionEnds(
  id: string,
  { journal }: Pick<RunStorage, 'journal'>,
  seq: number,
  known: Readonly<Record<string, string>>,
): Promise<SessionEnds> {
  const messages = new Map(Object.entries(known));
  const unknown = new Map<string, TurnRef>();
  for await (const step of journal.read(id)) {
    if (step.seq >= seq) break;
    for (const event of step.change.events) {
      if (event.kind !== 'turn_ended' || event.session === null) continue;
      const { session, message, agent, turn: number, state, evaluator, failure } = event;
      if (message !== undefined) {
        messages.set(session, message);
        unknown.delete(session);
      } else if (failure === null) unknown.set(session, { agent, number, state: evaluator ?? state });
    }
  }
  return { messages, unknown };
}

/** The last message of a conversation: from the journal, else from the output of its last turn; null if it has said nothing. */
export async function findLastMessage(
  id: string,
  { output }: Pick<RunStorage, 'output'>,
  { messages, unknown }: SessionEnds,
  session: string,
): Promise<string | null> {
  const turn = unknown.get(session);
  if (turn === undefined) return messages.get(session) ?? null;
  let transcript = EMPTY_TRANSCRIPT;
  for await (const line of splitChunks(output.read(id, turn, 'stdout')))
    transcript = addClaudeEvent(transcript, parseClaudeBytes(line));
  return transcript.lastUuid ?? messages.get(session) ?? null;
}

/** The id of a copy: the same for the same run, so that a repeated command overwrites it. */
export function copyIdOf(run: string, session: string): string {
  const hex = createHash('sha256').update(`${run}\n${session}`).digest('hex');
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

/** The error for a conversation that cannot be copied, with a point at which it is not needed. */
export function lostSessionError(
  run: string,
  session: string,
  reason: string,
  points: readonly TurnPoint[],
): RaymondError {
  const user = points.findLast(({ start }) => start.session?.id === session)?.start.agent;
  const fresh = points.findLast(({ start }) => start.agent === user && start.session?.kind === 'new');
  const who = user === undefined ? 'An agent' : user;
  return new RaymondError(`${who} of run ${run} cannot continue from its conversation ${session}: ${reason}.`, {
    exitCode: EXIT.usage,
    hint:
      fresh === undefined
        ? 'Rerun it from a turn that begins a conversation.'
        : `Rerun it from ${fresh.start.agent}/${fresh.start.turn} (${fresh.start.state}), which begins a conversation.`,
  });
}

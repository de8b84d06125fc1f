import type { Session } from '../../language/position.ts';
import type { Agent, TurnPrompt } from '../run/agent.ts';
import type { Event, Step } from '../run/event.ts';
import { type Run, withAgent } from '../run/run.ts';

const COMPACT: TurnPrompt = { kind: 'compact' };

/** The prompt of a ready agent's next Claude turn: before that of its state, a conversation is summarized that is to be. */
export const promptToSend = (prompt: TurnPrompt, session: Session | null): TurnPrompt =>
  prompt.kind === 'state' && session?.compact === true ? COMPACT : prompt;

/** Lets an agent continue with the prompt of its state after a turn that was to summarize its conversation. */
export function endCompaction(run: Run, agent: Agent, at: number, failure: string | null): Step {
  const { session } = agent;
  const next: Agent = {
    ...agent,
    session: session === null ? null : withoutMark(session),
    // The turn was none of its visit to the state, which has not begun.
    tries: 0,
    retries: 0,
    phase: { kind: 'ready', prompt: { kind: 'state' }, since: run.seq },
  };
  const message = `${agent.state}: ${NOT_SUMMARIZED} (${failure}); it continues as it is`;
  const warning: Event = { kind: 'warning', at, agent: agent.id, state: agent.state, message };
  return { run: withAgent(run, next), events: failure === null ? [] : [warning] };
}

const NOT_SUMMARIZED = 'the conversation could not be summarized';

/** True if a warning says that a conversation continues without the summary that it was to have. */
export const isSummaryWarning = (message: string): boolean => message.includes(NOT_SUMMARIZED);

const withoutMark = ({ compact: _, ...session }: Session): Session => session;

import type { Event } from '../../core/event.ts';
import type { RecordingContext } from './answers.ts';

type AskEnd = Extract<Event, { kind: 'ask_answered' | 'ask_timed_out' }>;

/** What people answered in a run, as `asks` of a scenario: a list for each state, or for each agent in it if there are several. */
export function recordAsks(
  events: readonly Event[],
  { scrub, addNote }: Pick<RecordingContext, 'scrub' | 'addNote'>,
): { readonly asks?: Readonly<Record<string, readonly (string | null)[]>> } {
  const ends = events.filter(
    (event): event is AskEnd => event.kind === 'ask_answered' || event.kind === 'ask_timed_out',
  );
  if (ends.length === 0) return {};
  const agentsByState = new Map<string, Set<string>>();
  for (const { agent, state } of ends)
    agentsByState.set(state, (agentsByState.get(state) ?? new Set<string>()).add(agent));
  const asks: Record<string, (string | null)[]> = {};
  for (const end of ends) {
    const { agent, state, ask } = end;
    const key = agentsByState.get(state)?.size === 1 ? state : `${agent}/${state}`;
    const answers = asks[key] ?? [];
    asks[key] = answers;
    answers.push(end.kind === 'ask_answered' ? scrub(agent, end.text) : null);
    if (end.kind === 'ask_answered' && end.files.length > 0)
      addNote(`The files that came with the answer to ${ask} are not recorded: ${end.files.join(', ')}.`);
  }
  return { asks };
}

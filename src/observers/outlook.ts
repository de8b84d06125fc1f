import type { Agent } from '../core/agent.ts';
import type { Run } from '../core/run.ts';
import type { Driver, Standing } from '../core/standing.ts';
import { goOnCommand, reasonsOf } from './go-on.ts';
import { oneLine } from './harmless.ts';
import { clock, counted } from './words.ts';

/** A run as it is seen from outside. */
export interface Situation {
  readonly run: Run;
  readonly standing: Standing;
  readonly owner: Driver | null;
}

/** What a run waits for, in sentences, and the commands that make a difference to it. */
export interface Outlook {
  readonly waitsFor: readonly string[];
  readonly commands: readonly { readonly purpose: string; readonly command: string }[];
}

/** What is to be expected of a run, and what can be done about it. */
export function outlookOf({ run, standing, owner }: Situation, now: number): Outlook {
  const { id } = run;
  const goOn = goOnCommand(run);
  const ending = comingToAnEnd(run.agents);
  switch (standing) {
    case 'running':
      return {
        waitsFor: atWork(run, now),
        commands: [
          { purpose: 'To watch it', command: `raymond logs ${id} --follow` },
          { purpose: 'To stop it', command: `raymond stop ${id}` },
        ],
      };
    case 'stopping':
      return {
        waitsFor: [ending === null ? 'It is stopping.' : `It is stopping: ${ending}.`],
        commands: [{ purpose: 'To end it now', command: `raymond stop ${id} --now` }],
      };
    case 'crashed':
      return { waitsFor: [crash(run, owner)], commands: [{ purpose: 'To go on', command: `raymond resume ${id}` }] };
    case 'elsewhere':
      return {
        waitsFor: [`${driver(owner)}: what it does cannot be seen from here.`],
        commands: [{ purpose: 'If that process is no more', command: `raymond resume ${id} --take-over` }],
      };
    case 'completed':
      return { waitsFor: ['Every agent has ended with a result.'], commands: [] };
    default:
      return {
        waitsFor: [...(standing === 'interrupted' ? ['It was interrupted.'] : []), ...reasonsOf(run, now)],
        commands: goOn === null ? [] : [{ purpose: 'To go on', command: goOn }],
      };
  }
}

function atWork({ agents, hold }: Run, now: number): readonly string[] {
  const running = agents.filter(({ phase }) => phase.kind === 'running').length;
  const ready = agents.filter(({ phase }) => phase.kind === 'ready').length;
  const naps = agents.flatMap(({ id, phase }) => (phase.kind === 'sleeping' ? [{ id, untilMs: phase.untilMs }] : []));
  const [first] = naps.toSorted((a, b) => a.untilMs - b.untilMs);
  const sentences: string[] = [];
  if (running > 0) sentences.push(`${counted(running, 'turn')} ${running === 1 ? 'is' : 'are'} under way.`);
  if (hold !== null) sentences.push(`Claude waits until ${clock(hold.untilMs, now)}: ${oneLine(hold.message)}`);
  else if (ready > 0)
    sentences.push(ready === 1 ? '1 agent waits for its turn.' : `${ready} agents wait for their turn.`);
  if (hold === null && first !== undefined) {
    const who = naps.length === 1 ? `${first.id} sleeps` : `${naps.length} agents sleep, the first of them`;
    sentences.push(`${who} until ${clock(first.untilMs, now)}.`);
  }
  return sentences;
}

/** `2 turns come to their end`, for a run that is stopping; null if none is under way. */
export function comingToAnEnd(agents: readonly Agent[]): string | null {
  const running = agents.filter(({ phase }) => phase.kind === 'running');
  if (running.length === 0) return null;
  const who = running.length > 3 ? '' : ` (${running.map(({ id, state }) => `${id} in ${state}`).join(', ')})`;
  return `${counted(running.length, 'turn')}${who} ${running.length === 1 ? 'comes to its end' : 'come to their end'}`;
}

function crash({ agents }: Run, owner: Driver | null): string {
  const gone = owner?.pid == null ? 'Nobody drives it any more.' : `Its process ${owner.pid} is gone.`;
  const running = agents.filter(({ phase }) => phase.kind === 'running').length;
  if (running === 0) return gone;
  const [were, them] = running === 1 ? ['was', 'it'] : ['were', 'them'];
  return `${gone} ${counted(running, 'turn')} ${were} under way; a resume finds out what came of ${them}.`;
}

const driver = (owner: Driver | null): string =>
  owner?.pid == null ? 'Nobody knows who drives it' : `Process ${owner.pid} on ${owner.host} drives it`;

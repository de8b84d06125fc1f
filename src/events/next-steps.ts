import type { Agent } from '../core/agent.ts';
import type { Run } from '../core/run.ts';
import type { ObservedStatus, OwnerInfo } from '../core/observed-status.ts';
import { describeUnfinished, formatResumeCommand } from './resume-advice.ts';
import { sanitizeLine } from './sanitize.ts';
import { formatClock, formatCount } from './format.ts';

/** A run as it is seen from outside. */
export interface RunSituation {
  readonly run: Run;
  readonly observedStatus: ObservedStatus;
  readonly owner: OwnerInfo | null;
}

/** What a run waits for, in sentences, and the commands that make a difference to it. */
export interface NextSteps {
  readonly waitsFor: readonly string[];
  readonly commands: readonly { readonly purpose: string; readonly command: string }[];
}

/** What is to be expected of a run, and what can be done about it. */
export function describeNextSteps({ run, observedStatus, owner }: RunSituation, now: number): NextSteps {
  const { id } = run;
  const resumeCommand = formatResumeCommand(run);
  const endingTurns = describeEndingTurns(run.agents);
  switch (observedStatus) {
    case 'running':
      return {
        waitsFor: describeWork(run, now),
        commands: [
          { purpose: 'To watch it', command: `raymond logs ${id} --follow` },
          { purpose: 'To stop it', command: `raymond stop ${id}` },
        ],
      };
    case 'stopping':
      return {
        waitsFor: [endingTurns === null ? 'It is stopping.' : `It is stopping: ${endingTurns}.`],
        commands: [{ purpose: 'To end it now', command: `raymond stop ${id} --now` }],
      };
    case 'crashed':
      return {
        waitsFor: [describeCrash(run, owner)],
        commands: [{ purpose: 'To go on', command: `raymond resume ${id}` }],
      };
    case 'elsewhere':
      return {
        waitsFor: [`${describeOwner(owner)}: what it does cannot be seen from here.`],
        commands: [{ purpose: 'If that process is no more', command: `raymond resume ${id} --take-over` }],
      };
    case 'completed':
      return { waitsFor: ['Every agent has ended with a result.'], commands: [] };
    default:
      return {
        waitsFor: [
          ...(observedStatus === 'interrupted' ? ['It was interrupted.'] : []),
          ...describeUnfinished(run, now),
        ],
        commands: resumeCommand === null ? [] : [{ purpose: 'To go on', command: resumeCommand }],
      };
  }
}

function describeWork({ agents, hold }: Run, now: number): readonly string[] {
  const running = agents.filter(({ phase }) => phase.kind === 'running').length;
  const ready = agents.filter(({ phase }) => phase.kind === 'ready').length;
  const sleepers = agents.flatMap(({ id, phase }) =>
    phase.kind === 'sleeping' ? [{ id, untilMs: phase.untilMs }] : [],
  );
  const [first] = sleepers.toSorted((a, b) => a.untilMs - b.untilMs);
  const sentences: string[] = [];
  if (running > 0) sentences.push(`${formatCount(running, 'turn')} ${running === 1 ? 'is' : 'are'} under way.`);
  if (hold !== null)
    sentences.push(`Claude waits until ${formatClock(hold.untilMs, now)}: ${sanitizeLine(hold.message)}`);
  else if (ready > 0)
    sentences.push(ready === 1 ? '1 agent waits for its turn.' : `${ready} agents wait for their turn.`);
  if (hold === null && first !== undefined) {
    const subject = sleepers.length === 1 ? `${first.id} sleeps` : `${sleepers.length} agents sleep, the first of them`;
    sentences.push(`${subject} until ${formatClock(first.untilMs, now)}.`);
  }
  return sentences;
}

/** `2 turns come to their end`, for a run that is stopping; null if none is under way. */
export function describeEndingTurns(agents: readonly Agent[]): string | null {
  const running = agents.filter(({ phase }) => phase.kind === 'running');
  if (running.length === 0) return null;
  const subject = running.length > 3 ? '' : ` (${running.map(({ id, state }) => `${id} in ${state}`).join(', ')})`;
  return `${formatCount(running.length, 'turn')}${subject} ${running.length === 1 ? 'comes to its end' : 'come to their end'}`;
}

function describeCrash({ agents }: Run, owner: OwnerInfo | null): string {
  const ownerGone = owner?.pid == null ? 'Nobody drives it any more.' : `Its process ${owner.pid} is gone.`;
  const running = agents.filter(({ phase }) => phase.kind === 'running').length;
  if (running === 0) return ownerGone;
  const [were, them] = running === 1 ? ['was', 'it'] : ['were', 'them'];
  return `${ownerGone} ${formatCount(running, 'turn')} ${were} under way; a resume finds out what came of ${them}.`;
}

const describeOwner = (owner: OwnerInfo | null): string =>
  owner?.pid == null ? 'Nobody knows who drives it' : `Process ${owner.pid} on ${owner.host} drives it`;

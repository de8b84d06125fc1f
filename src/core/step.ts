import type { Event, Step } from './event.ts';
import type { Run } from './run.ts';
import type { Signal } from './signal.ts';
import { answered } from './signals/answered.ts';
import { began } from './signals/began.ts';
import { failed } from './signals/failed.ts';
import { resumed } from './signals/resumed.ts';
import { stopped } from './signals/stopped.ts';
import { unreadable } from './signals/unreadable.ts';
import { woke } from './signals/woke.ts';
import { statusOf } from './status.ts';

type Handlers = { readonly [Kind in Signal['kind']]: (run: Run, signal: Extract<Signal, { kind: Kind }>) => Step };

const HANDLERS: Handlers = { began, unreadable, answered, failed, woke, stopped, resumed };

/** The interpreter: what a run becomes when the world says something. Pure. */
export function step(run: Run, signal: Signal): Step {
  const handle = HANDLERS[signal.kind] as (run: Run, signal: Signal) => Step;
  return settle(run, handle(run, signal), signal.at);
}

/** The first thing to tell about a run that has just been made. */
export function opening(run: Run): readonly Event[] {
  const { id, name, workflow, options, startedAt: at } = run;
  return [
    { kind: 'run_started', at, run: id, name, workflow, options },
    ...run.agents.map(({ id: agent, state, parent, cwd, input, variables }) => {
      return { kind: 'agent_started', at, agent, state, parent, cwd, input, variables } as const;
    }),
  ];
}

/** Counts the step and says so when the run has come to its end. */
function settle(before: Run, { run, events }: Step, at: number): Step {
  const status = statusOf(run);
  const settled = { ...run, status, seq: before.seq + 1 };
  const ended = before.status === 'running' || events.some(({ kind }) => kind === 'run_resumed');
  if (status === 'running' || !ended) return { run: settled, events };
  const { spentMicros, estimatedMicros } = run.ledger;
  return { run: settled, events: [...events, { kind: 'run_ended', at, status, spentMicros, estimatedMicros }] };
}

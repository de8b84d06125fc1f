import type { Step } from '../event.ts';
import { follow } from '../follow.ts';
import { type Run, withAgent } from '../run.ts';
import type { Answered } from '../signal.ts';
import { overspent, turnOver } from './turn-over.ts';

/** Follows the answer of a turn, unless the money is gone: then it is kept for a resume with more. */
export function answered(run: Run, signal: Answered): Step {
  const { agent: id, at, cost, denials, text, folders, scope } = signal;
  const over = turnOver(run, { agent: id, at, cost, kept: true, failure: null, denials });
  const { agent } = over;
  if (overspent(over.run)) {
    const phase = { kind: 'withheld', text, denials, folders } as const;
    return {
      run: withAgent(over.run, { ...agent, phase }),
      events: [...over.events, { kind: 'answer_withheld', at, agent: id, state: agent.state }],
    };
  }
  const next = follow(over.run, agent, { text, denials, folders, scope, at });
  return { run: next.run, events: [...over.events, ...next.events] };
}

import type { Agent } from '../core/agent.ts';
import type { Event } from '../core/event.ts';
import { microsToUsd } from '../core/ledger.ts';
import type { Run } from '../core/run.ts';
import { EXIT } from '../errors.ts';

const EXIT_CODES = {
  running: EXIT.paused,
  completed: EXIT.completed,
  failed: EXIT.failed,
  waiting: EXIT.waiting,
  paused: EXIT.paused,
  budget_exceeded: EXIT.limit,
  iteration_limit: EXIT.limit,
  interrupted: EXIT.interrupted,
} as const satisfies Record<Run['status'], number>;

/** The exit code that a run comes to. */
export const exitCodeOf = (run: Run): number => EXIT_CODES[run.status];

/** A whole run as one document, the same from a run and from a resume. `events` are all of its events. */
export function createRunDocument(run: Run, events: readonly Event[]): unknown {
  const ended = run.agents.flatMap(({ id, phase }) => (phase.kind === 'ended' ? [[id, phase.result] as const] : []));
  return {
    run_id: run.id,
    status: run.status,
    exit_code: exitCodeOf(run),
    results: Object.fromEntries(ended),
    cost_usd: microsToUsd(run.ledger.spentMicros),
    agents: run.agents.map(createAgentResult),
    transitions: events.flatMap((event) =>
      event.kind === 'transition'
        ? [
            {
              agent: event.agent,
              from: event.state,
              tag: event.tag,
              to: event.to,
              cost_usd: microsToUsd(event.costMicros),
            },
          ]
        : [],
    ),
  };
}

function createAgentResult({ id, state, phase }: Agent): unknown {
  return {
    id,
    status: phase.kind,
    state,
    result: phase.kind === 'ended' ? phase.result : null,
    error: phase.kind === 'failed' || phase.kind === 'paused' ? phase.message : null,
  };
}

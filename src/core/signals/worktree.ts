import type { Event, Step } from '../event.ts';
import { getAgent, type Run, withAgent } from '../run.ts';
import type { WorktreeClosed, WorktreeMade, WorktreeRefused } from '../signal.ts';
import { endAgent, failAgent } from '../state-failure.ts';

/** Lets a worker begin in the worktree that was made for it. */
export function handleWorktreeMade(run: Run, { agent: id, at, place, cwd }: WorktreeMade): Step {
  const agent = getAgent(run, id);
  if (agent.worktree?.kind !== 'wanted') throw new Error(`${id} does not wait for a worktree`);
  const phase = { kind: 'ready', prompt: { kind: 'state' }, since: run.seq } as const;
  return {
    run: withAgent(run, { ...agent, cwd, worktree: { kind: 'made', ...place }, phase }),
    events: [{ kind: 'worktree_opened', at, agent: id, state: agent.state, ...place, cwd }],
  };
}

/** Fails a worker before it has cost anything. A resume with --retry tries to make the worktree again. */
export function handleWorktreeRefused(run: Run, { agent: id, at, message }: WorktreeRefused): Step {
  const agent = getAgent(run, id);
  return failAgent(run, agent, `${agent.state}: ${message}`, at);
}

/** Ends a worker whose worktree has been looked at. */
export function handleWorktreeClosed(run: Run, { agent: id, at, content, warning }: WorktreeClosed): Step {
  const agent = getAgent(run, id);
  const { phase, worktree, state } = agent;
  if (phase.kind !== 'worktree' || phase.result === null || worktree?.kind !== 'made')
    throw new Error(`${id} has no worktree to close`);
  const { path, branch, base } = worktree;
  const { kept, commits, dirty } = content;
  const closed = { ...agent, worktree: { kind: 'closed', path, branch, base, kept, commits, dirty } as const };
  const ended = endAgent(run, closed, phase.result, at);
  const warnings: readonly Event[] =
    warning === undefined ? [] : [{ kind: 'warning', at, agent: id, state, message: warning }];
  return {
    run: ended.run,
    events: [
      ...warnings,
      { kind: 'worktree_left', at, agent: id, state, path, branch, kept, commits, dirty },
      ...ended.events,
    ],
  };
}

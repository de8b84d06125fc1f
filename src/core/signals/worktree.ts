import { finishAgent } from '../answers/end-agent.ts';
import type { Event, Step } from '../run/event.ts';
import { getAgent, type Run, withAgent } from '../run/run.ts';
import { placeOf } from '../run/worktree.ts';
import type { WorktreeClosed, WorktreeMade, WorktreeRefused } from './signal.ts';

/** Lets a worker begin in the worktree that was made for it, or continue in the one that it has left. */
export function handleWorktreeMade(run: Run, signal: WorktreeMade): Step {
  const { agent: id, at, place, cwd: first, home, warning } = signal;
  const agent = getAgent(run, id);
  const { state, worktree } = agent;
  if (agent.phase.kind !== 'worktree') throw new Error(`${id} does not wait for a worktree`);
  const cwd = worktree?.kind === 'closed' ? agent.cwd : first;
  // One that held nothing was removed when it was closed.
  const isMissed = warning !== undefined && worktree?.kind === 'closed' && worktree.kept;
  const phase = { kind: 'ready', prompt: { kind: 'state' }, since: run.seq } as const;
  return {
    run: withAgent(run, { ...agent, cwd, worktree: { kind: 'made', ...place }, node: home ?? agent.node, phase }),
    events: [
      { kind: 'worktree_opened', at, agent: id, state, ...place, cwd, ...(home && { home }) },
      ...(isMissed ? [{ kind: 'warning', at, agent: id, state, message: warning } as const] : []),
    ],
  };
}

/** Fails a worker before it has cost anything. A resume with --retry tries to make the worktree again. */
export function handleWorktreeRefused(run: Run, { agent: id, at, message }: WorktreeRefused): Step {
  const agent = getAgent(run, id);
  return finishAgent(run, agent, { kind: 'failed', message: `${agent.state}: ${message}` }, at);
}

/** Ends a worker whose worktree has been looked at. */
export function handleWorktreeClosed(run: Run, { agent: id, at, content, warning }: WorktreeClosed): Step {
  const agent = getAgent(run, id);
  const { phase, state } = agent;
  if (phase.kind !== 'worktree' || phase.outcome === null) throw new Error(`${id} has no worktree to close`);
  const place = placeOf(agent.worktree);
  const events: Event[] = warning === undefined ? [] : [{ kind: 'warning', at, agent: id, state, message: warning }];
  if (place === null) {
    const ended = finishAgent(run, agent, phase.outcome, at);
    return { run: ended.run, events: [...events, ...ended.events] };
  }
  const { path, branch, remote } = place;
  const closed = { ...agent, worktree: { kind: 'closed', ...place, ...content } as const };
  const ended = finishAgent(run, closed, phase.outcome, at);
  const where = { path, branch, ...(remote !== undefined && { remote }) };
  const left = { kind: 'worktree_left', at, agent: id, state, ...where, ...content } as const;
  return { run: ended.run, events: [...events, left, ...ended.events] };
}

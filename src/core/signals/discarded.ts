import type { Event, Step } from '../run/event.ts';
import { getAgent, type Run, withAgent } from '../run/run.ts';
import { deriveAgentsStatus } from '../run/status.ts';
import type { WorktreesDiscarded } from './signal.ts';

/** Notes that worktrees of ended agents were removed on purpose, with the work in them. */
export function handleWorktreesDiscarded(run: Run, { at, worktrees }: WorktreesDiscarded): Step {
  const events: Event[] = [];
  let next = run;
  for (const { agent: id, path, branch } of worktrees) {
    // One that was archived is only in the journal.
    const agent = run.agents.find((each) => each.id === id) ?? getAgent(run, 'main');
    events.push({ kind: 'worktree_discarded', at, agent: id, state: agent.state, path, branch });
    if (id === 'main') next = withoutWorkspace(next);
    else if (agent.id === id && agent.worktree?.kind === 'closed')
      next = withAgent(next, { ...agent, worktree: { ...agent.worktree, ...GONE } });
  }
  return { run: next, events };
}

const GONE = { kept: false, discarded: true } as const;

function withoutWorkspace(run: Run): Run {
  const { workspace, stop } = run;
  if (workspace?.kind !== 'left') return run;
  // Commits that could not be pushed were given up, so they no longer stop a run whose agents have all ended.
  const isLifted = stop?.kind === 'workspace' && deriveAgentsStatus({ ...run, stop: null }) !== 'running';
  const lifted = isLifted ? null : stop;
  return { ...run, stop: lifted, workspace: { ...workspace, content: { ...workspace.content, ...GONE } } };
}

import type { Position } from '../../language/position.ts';
import { finishAgent } from '../answers/end-agent.ts';
import type { Agent } from '../run/agent.ts';
import type { Event, Step } from '../run/event.ts';
import { getAgent, type Run, withAgent } from '../run/run.ts';
import { deriveAgentsStatus, isLeavingWorkspace, strongerStop } from '../run/status.ts';
import { parseWorkspace, type WorkspacePlace } from '../run/workspace.ts';
import { placeOf } from '../run/worktree.ts';
import type {
  WorkspaceLeft,
  WorkspaceMade,
  WorkspaceRefused,
  WorktreeClosed,
  WorktreeMade,
  WorktreeRefused,
  WorktreesDiscarded,
} from './signal.ts';

/** The event of a clone that is looked for or made before anything else happens; none if the run has none. */
export function openingEvent({ workspace, options }: Run, at: number): readonly Event[] {
  if (workspace?.kind !== 'wanted') return [];
  const source = parseWorkspace(options.workspace ?? workspace.place?.remote ?? '');
  return [{ kind: 'workspace_opening', at, ...source }];
}

/** The event of a clone that is looked at because the run has come to rest. */
export function leavingWorkspaceEvent({ workspace }: Run, at: number): readonly Event[] {
  if (workspace === null || workspace.place === null) return [];
  const { path, branch } = workspace.place;
  return [{ kind: 'workspace_leaving', at, path, branch }];
}

/** The clone of a run that is resumed: opened again if somebody continues in it, else left once more if it is not pushed. */
export function reopenWorkspace(run: Run): Run {
  const { workspace, options } = run;
  if (workspace === null) return run;
  const { place } = workspace;
  // It was never made, and is not wanted any more.
  if (place === null) return { ...run, workspace: options.workspace === null ? null : workspace };
  if (deriveAgentsStatus(run) === 'running') return { ...run, workspace: { kind: 'wanted', place } };
  return isUnpushed(run) ? { ...run, workspace: { kind: 'made', place } } : run;
}

/** True if the clone of a run may hold something that nobody has pushed. */
export const isUnpushed = ({ workspace }: Run): boolean =>
  workspace !== null &&
  workspace.place !== null &&
  !(workspace.kind === 'left' && (workspace.content.pushed || workspace.content.discarded === true));

/** The content of a clone that was made after its run had stopped; the next resume finds it. */
const UNUSED = { kept: true, commits: 0, dirty: false, pushed: true };

/** Lets the agents of a run work in its clone, or leaves it if they have all ended meanwhile. */
export function handleWorkspaceMade(run: Run, { at, place, warning }: WorkspaceMade): Step {
  const { workspace, agents } = run;
  if (workspace?.kind !== 'wanted') throw new Error('the run waits for no workspace');
  // Before it was made, agents were to be in the folder of the user; after a move to another machine, it was elsewhere.
  const from = workspace.place?.path ?? run.startFolder;
  const moved = {
    startFolder: place.path,
    workspace:
      run.status === 'running'
        ? ({ kind: 'made', place } as const)
        : ({ kind: 'left', place, content: UNUSED } as const),
    agents: moveAgents(agents, from, place),
  };
  const next = { ...run, ...moved };
  return {
    run: next,
    events: [
      { kind: 'workspace_opened', at, ...place, from },
      ...warn(run, at, warning),
      ...(isLeavingWorkspace(next) ? leavingWorkspaceEvent(next, at) : []),
    ],
  };
}

/** Stops a run before it has cost anything. A resume tries to make the clone again. */
export function handleWorkspaceRefused(run: Run, { at, message }: WorkspaceRefused): Step {
  // Leaving the clone tells what became of it.
  if (run.status !== 'running' || isLeavingWorkspace(run)) return { run, events: [] };
  return stopFor(run, message, at);
}

/** Lets a run end whose clone has been looked at; if something could not be pushed, a resume tries that again. */
export function handleWorkspaceLeft(run: Run, { at, content, problem, warning }: WorkspaceLeft): Step {
  const { workspace } = run;
  const place = workspace?.place ?? null;
  if (place === null) throw new Error('the run has no workspace to leave');
  // Somebody has answered meanwhile, or said something: it is left again when the agents that are at work now have ended.
  if (deriveAgentsStatus(run) === 'running') return { run: { ...run, workspace: { kind: 'made', place } }, events: [] };
  const { path, branch, remote } = place;
  const left: Run = { ...run, workspace: { kind: 'left', place, content } };
  const events: readonly Event[] = [
    { kind: 'workspace_left', at, path, branch, remote, ...content },
    ...warn(run, at, warning),
  ];
  if (problem === undefined) return { run: left, events };
  const stopped = stopFor(left, problem, at);
  return { run: stopped.run, events: [...events, ...stopped.events] };
}

function stopFor(run: Run, message: string, at: number): Step {
  const own = { kind: 'workspace', message } as const;
  // Another stop does not matter to agents that have all ended.
  const isDone = deriveAgentsStatus({ ...run, stop: null }) === 'completed';
  const stop = isDone ? own : strongerStop(run.stop, own);
  return { run: { ...run, stop }, events: [{ kind: 'run_stopping', at, stop: own }] };
}

function warn(run: Run, at: number, message: string | undefined): readonly Event[] {
  if (message === undefined) return [];
  const { id: agent, state } = getAgent(run, 'main');
  return [{ kind: 'warning', at, agent, state, message }];
}

function moveAgents(agents: readonly Agent[], from: string | null, { path }: WorkspacePlace): readonly Agent[] {
  if (from === null || from === path) return agents;
  const move = <Part extends Pick<Position, 'cwd'>>(part: Part): Part =>
    part.cwd === from || part.cwd.startsWith(`${from}/`)
      ? { ...part, cwd: `${path}${part.cwd.slice(from.length)}` }
      : part;
  return agents.map((agent) => move({ ...agent, stack: agent.stack.map(move) }));
}

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

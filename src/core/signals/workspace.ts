import type { Position } from '../../language/position.ts';
import type { Agent } from '../run/agent.ts';
import type { Event, Step } from '../run/event.ts';
import { getAgent, type Run } from '../run/run.ts';
import { deriveAgentsStatus, isLeavingWorkspace, strongerStop } from '../run/status.ts';
import { parseWorkspace, type WorkspacePlace } from '../run/workspace.ts';
import type { WorkspaceLeft, WorkspaceMade, WorkspaceRefused } from './workspace-signal.ts';

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

import { join, relative } from 'node:path';
import type { Observation } from '../observation.ts';
import { endAgent } from './joins.ts';
import type { ModelAgent } from './model-agent.ts';
import { compare, Mismatch, note, type RunModel } from './run-model.ts';
import { limitText, requireReached } from './visits.ts';

type Handler = (model: RunModel, agent: ModelAgent, observed: Observation) => void;

/** What may be observed of the worktree of a worker. */
export const WORKTREE_HANDLERS: Readonly<Record<string, Handler>> = {
  worktree_opened(model, agent, { path, branch, cwd }) {
    const { worktree } = agent;
    if (agent.phase !== 'opening' || worktree === null) throw new Mismatch(`it is ${agent.phase}`);
    const place = { path: String(path), branch: `raymond/${model.runId}/${agent.id}` };
    const isNew = worktree.place === null;
    const folder = isNew ? join(place.path, relative(topOf(model, agent.cwd), agent.cwd)) : agent.cwd;
    compare(
      { branch: place.branch, ...(isNew ? { cwd: folder } : { path: worktree.place?.path }) },
      { path, branch, cwd },
      'the worktree',
    );
    if (isNew && rootsOf(model).includes(place.path)) throw new Mismatch(`${path} belongs to another agent`);
    Object.assign(worktree, { place, isOpen: true });
    Object.assign(agent, { cwd: folder, phase: 'ready' });
  },

  agent_failed(model, agent, { message }) {
    if (agent.phase !== 'opening') throw new Mismatch(`it is ${agent.phase}`);
    const folder = relative(topOf(model, agent.cwd), agent.cwd);
    if (folder === '' || folder === 'sub') throw new Mismatch(`it should get a worktree: ${message}`);
    if (!String(message).includes('is not committed')) throw new Mismatch(`it should say what is missing: ${message}`);
    endAgent(model, agent, 'failed', String(message));
  },

  worktree_leaving(model, agent) {
    // Any other end is expected.
    const { maxVisits } = requireReached(model, agent);
    agent.phase = 'leaving';
    const then = (): void => endAgent(model, agent, 'limited', limitText(maxVisits));
    agent.leaving = { kind: 'visit_limit', fields: { maxVisits }, then };
  },

  worktree_left(model, agent, { path, branch, kept, commits, dirty }) {
    const { worktree } = agent;
    if (agent.phase !== 'leaving' || worktree === null || worktree.place === null)
      throw new Mismatch(`it is ${agent.phase}`);
    compare(worktree.place, { path, branch }, 'the worktree');
    checkContent(model, worktree.place.path, dirty === true);
    compare({ kept: dirty, commits: 0 }, { kept, commits }, 'the worktree');
    if (kept === true) note(agent, 'kept-worktree');
    Object.assign(worktree, { isOpen: false, content: { kept, commits, dirty } });
  },
};

/** Notes what happens to the clone that a run works in. */
export function seeWorkspace(model: RunModel, { kind, path, from, dirty }: Observation): void {
  switch (kind) {
    case 'workspace_opening':
      return;
    case 'workspace_opened': {
      const before = model.clone ?? model.project;
      compare({ from: before }, { from }, 'the clone');
      model.clone = String(path);
      model.isCloneOpen = true;
      model.noteAll('workspace');
      for (const agent of model.agents.values()) {
        agent.cwd = moved(agent.cwd, before, model.clone);
        agent.stack = agent.stack.map((frame) => ({ ...frame, cwd: moved(frame.cwd, before, model.clone ?? '') }));
      }
      return;
    }
    case 'workspace_leaving':
      for (const { id, phase } of model.agents.values())
        if (phase === 'running' || phase === 'cancelling') throw new Mismatch(`${id} is at work in the clone`);
      return;
    case 'workspace_left':
      if (!model.isUnpushed && !model.subject.stops.some(({ how }) => how === 'kill'))
        checkContent(model, String(path), dirty === true);
      model.isCloneOpen = false;
      return;
    default:
      throw new Mismatch('it is not known to the model');
  }
}

const moved = (cwd: string, from: string, to: string): string =>
  cwd === from || cwd.startsWith(`${from}/`) ? `${to}${cwd.slice(from.length)}` : cwd;

/** Compares what is said to be in a folder with what was written there; git ignores what is below `.raymond`. */
function checkContent(model: RunModel, path: string, isDirty: boolean): void {
  const inside = model.written.filter(
    (each) => each.path.startsWith(`${path}/`) && !each.path.slice(path.length).startsWith('/.raymond/'),
  );
  if (isDirty && inside.length === 0) throw new Mismatch(`nothing was written in ${path}`);
  if (!isDirty && inside.some(({ isSure }) => isSure)) throw new Mismatch(`something was written in ${path}`);
}

const rootsOf = (model: RunModel): readonly string[] => [
  model.project,
  ...(model.clone === null ? [] : [model.clone]),
  ...Array.from(model.agents.values(), ({ worktree }) => worktree?.place?.path ?? []).flat(),
];

/** The top folder of the repository that a folder is in. */
function topOf(model: RunModel, folder: string): string {
  const roots = rootsOf(model).filter((root) => folder === root || folder.startsWith(`${root}/`));
  return roots.toSorted((a, b) => b.length - a.length)[0] ?? model.project;
}

import { isAbsolute, join, relative, sep } from 'node:path';
import type { EarlierRun } from '../../core/rerun.ts';
import type { Agent } from '../../core/run/agent.ts';
import type { FolderSnapshot } from '../../core/run/snapshot.ts';
import { placeOf, type WorktreePlace } from '../../core/run/worktree.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import { repositoryOf } from '../../git/restore-folder.ts';
import { branchOf } from '../../git/worktree.ts';
import { isWithin, realPathOf } from '../../git-repository.ts';
import type { ListedSnapshot } from '../../turns/snapshots.ts';
import { nameOfPoint, type RunPoint, type TurnPoint } from './points.ts';

/** A folder of then, and the one that stands for it. */
export interface MovedFolder {
  readonly from: string;
  readonly path: string;
  readonly snapshot: FolderSnapshot;
  readonly worktree: { readonly branch: string; readonly repository: string } | null;
  /** The place of the worktree for the agent that has it to itself; null for a folder that agents share. */
  readonly ofAgent: { readonly id: string; readonly place: WorktreePlace } | null;
}

interface Request {
  readonly run: string;
  readonly id: string;
  readonly point: RunPoint;
  readonly points: readonly RunPoint[];
  readonly earlier: EarlierRun;
  readonly agents: readonly Agent[];
  readonly listed: readonly ListedSnapshot[];
  /** The folder for the worktrees of the new run. */
  readonly worktrees: string;
  /** Folders that are not in any snapshot and need none, such as those of tasks. */
  readonly others: readonly string[];
}

/** Chooses the snapshots for the folders in which agents are to continue. Throws a RaymondError if there is none for one of them. */
export function chooseFolders(request: Request): readonly MovedFolder[] {
  const { run, id, point, agents, worktrees, others } = request;
  const first = point.kind === 'turn' ? point.start.agent : point.agent;
  const found = new Map<string, MovedFolder>();
  const inOrder = [...agents].sort((a, b) => Number(b.id === first) - Number(a.id === first));
  for (const agent of inOrder) {
    const cwd = realPathOf(agent.cwd);
    const isCovered = [...found.keys(), ...others.map(realPathOf)].some((folder) => isWithin(cwd, folder));
    if (isCovered) continue;
    const snapshot = findSnapshot(request, agent);
    if (snapshot === null || !isWithin(cwd, snapshot.folder)) throw noSnapshotError(request, agent);
    const own = agent.worktree?.kind === 'made' ? placeOf(agent.worktree) : null;
    const name = own === null ? nameShared(found.size) : agent.id;
    const repository = own?.repository ?? repositoryOf(snapshot.folder);
    const path = join(worktrees, name);
    const worktree = repository === null || snapshot.head === null ? null : { branch: branchOf(id, name), repository };
    if (repository === null && snapshot.head !== null)
      throw new RaymondError(
        `The git repository of ${snapshot.folder}, in which run ${run} worked, is not there any more.`,
        {
          exitCode: EXIT.usage,
          hint: 'Bring it back, or rerun with --files now.',
        },
      );
    const ofAgent =
      own === null || worktree === null ? null : { id: agent.id, place: { ...own, path, branch: worktree.branch } };
    found.set(snapshot.folder, { from: snapshot.folder, path, snapshot, worktree, ofAgent });
  }
  return [...found.values()];
}

const nameShared = (count: number): string => (count === 0 ? 'main' : `folder-${count + 1}`);

/**
 * The files that an agent is to begin with: those before its turn at the point, or before the one that was under way then. One that waited
 * for its next turn has the files before that, because nobody else works in its folder.
 */
function findSnapshot({ point, points, earlier, listed }: Request, { id, turns }: Agent): FolderSnapshot | null {
  if (point.kind === 'turn' && point.start.agent === id) return point.start.snapshot ?? null;
  const own = points.filter((each): each is TurnPoint => each.kind === 'turn' && each.start.agent === id);
  const underWay = earlier.beforeTurns.has(id) ? own.findLast(({ seq }) => seq < point.seq) : undefined;
  const chosen = underWay ?? own.find(({ seq }) => seq > point.seq);
  if (chosen?.start.snapshot !== undefined) return chosen.start.snapshot;
  const after = listed.findLast((each) => each.agent === id && each.turn === turns && each.when === 'after');
  return after === undefined ? null : { tree: after.tree, folder: after.folder, head: after.head ?? null };
}

function noSnapshotError({ run, point, points, earlier }: Request, agent: Agent): RaymondError {
  const first = point.kind === 'turn' ? point.start.agent : point.agent;
  const isFirst = agent.id === first;
  const before = points.findLast(
    (each): each is TurnPoint =>
      each.kind === 'turn' && each.seq < point.seq && each.start.agent === first && each.start.snapshot !== undefined,
  );
  const reason =
    earlier.run.options.snapshots === false
      ? 'it was started with --no-snapshots'
      : 'snapshots are taken before prompts, and before a script that comes after one';
  const other =
    before === undefined ? '' : `from ${nameOfPoint(before)} (${before.start.state}), of which there are files, or `;
  const without = isFirst ? '' : `, or without ${agent.id}: --only`;
  return new RaymondError(
    `There is no snapshot of the files that ${agent.id} had at ${nameOfPoint(point)} of run ${run}: ${reason}.`,
    { exitCode: EXIT.usage, hint: `Rerun it ${other}with the files as they are now: --files now${without}.` },
  );
}

/** Creates the function that finds the folder that stands for one of then. */
export function createMover(pairs: readonly (readonly [from: string, to: string])[]): (folder: string) => string {
  const known = pairs.toSorted(([a], [b]) => b.length - a.length);
  return (folder) => {
    const real = realPathOf(folder);
    const pair = known.find(([from]) => isWithin(real, realPathOf(from)));
    if (pair === undefined) return folder;
    const [from, to] = pair;
    const inside = relative(realPathOf(from), real);
    return inside === '' || isAbsolute(inside) ? to : to + sep + inside;
  };
}

import { randomBytes } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { copyFile, cp, mkdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { mergeOptions, type Options } from '../../core/options/options.ts';
import {
  beginAgain,
  type EarlierRun,
  liveAgents,
  questionsAgain,
  type RerunPlan,
  rewindTurns,
  sessionsOf,
} from '../../core/rerun.ts';
import { turnFileOf } from '../../core/run/agent.ts';
import type { Event } from '../../core/run/event.ts';
import { newRunId } from '../../core/run/ids.ts';
import type { Run } from '../../core/run/run.ts';
import { parseWorkspace, type Workspace } from '../../core/run/workspace.ts';
import { initialEvents } from '../../core/step.ts';
import { due } from '../../core/turns/due.ts';
import { makePrivateFolder } from '../../disk/files.ts';
import { type FolderLayout, findLayout } from '../../disk/layout.ts';
import { EXIT, errorMessageOf, RaymondError } from '../../errors.ts';
import { bringIgnored, restoreFolder, restoreWorkspace } from '../../git/restore-folder.ts';
import { branchOf } from '../../git/worktree.ts';
import { isPrompt } from '../../language/state-names.ts';
import { createFileLeases } from '../../storage/files/lease.ts';
import { createFileStorage } from '../../storage/files/storage.ts';
import { readRunBefore } from '../../storage/run-before.ts';
import type { RunStorage } from '../../storage/storage.ts';
import type { SessionCut } from '../../turns/session-copier.ts';
import { CodeGuard } from '../../wiring/code-guard.ts';
import { applyManifestEnvironment } from '../../wiring/manifest-settings.ts';
import { PRODUCTION, type Runtime } from '../../wiring/run-context.ts';
import type { RunHandle } from '../../wiring/run-handle.ts';
import { callLimitsOf, mentionsJoin, withAbsoluteRoot } from '../../wiring/run-workflows.ts';
import { SettingsGuard, withSettings } from '../../wiring/settings-guard.ts';
import { findWorktreesRoot } from '../../wiring/worktrees-root.ts';
import type { Workflow } from '../../workflow/workflow.ts';
import { checkClaudeValues, refuseSkippingAsRoot } from '../config/run-settings.ts';
import { readSnapshotList } from '../diff.ts';
import { continueRun } from '../resume.ts';
import { refuseForeignFolders } from '../trust/foreign-folders.ts';
import { findStoredRisks, isSignedByUser, sealRun, signAsUser, storedRisksError } from '../trust/run-seal.ts';
import { chooseFolders, createMover, type MovedFolder } from './earlier-files.ts';
import { copyIdOf, findLastMessage, lostSessionError, readSessionEnds } from './earlier-sessions.ts';
import { clearLeftovers, forgetMaking, type Making, noteMaking, undoMaking } from './leftovers.ts';
import { findPoint, nameOfPoint, type RunPoint, readPoints } from './points.ts';
import type { RerunRequest } from './rerun-request.ts';

/** Starts a new run that begins right before a turn of another one. The other one stays as it is. */
export const rerunRun = (runRef: string, request: RerunRequest): Promise<RunHandle> =>
  rerunRunWith(runRef, request, PRODUCTION);

/** Runs again from a point of a run, for real or as a test. */
export async function rerunRunWith(runRef: string, request: RerunRequest, runtime: Runtime): Promise<RunHandle> {
  const cwd = resolve(request.cwd ?? process.cwd());
  const env = request.env ?? process.env;
  const layout = findLayout(cwd);
  const changes = withAbsoluteRoot(request.options ?? {}, cwd);
  checkClaudeValues(changes);
  refuseForeignFolders([layout.root], env);
  await clearLeftovers(layout, env);
  const storage = createFileStorage(layout, {
    sign: (text) => signAsUser(text, env),
    isSigned: (text, signature) => isSignedByUser(text, signature, env),
  });
  const source = await findSource(runRef, request, storage);
  const { run } = source.earlier;
  const risks = request.acceptsStored === true ? [] : findStoredRisks(layout, run, changes, { cwd, env });
  if (risks.length > 0) throw storedRisksError(run.id, risks);
  const startedAt = runtime.clock.now();
  const offset = -new Date(startedAt).getTimezoneOffset();
  const id = request.runId ?? newRunId(run.name, startedAt, offset, randomBytes(2).toString('hex'));
  const place: Place = { layout, storage, env, runtime, id, startedAt, cwd };
  const making: { folders: Making['folders']; sessions: Making['sessions'] } = { folders: [], sessions: [] };
  if (existsSync(layout.stateFile(id)) || existsSync(layout.journalFile(id)))
    throw new RaymondError(`A run ${id} already exists.`, { exitCode: EXIT.usage, hint: 'Choose another --run-id.' });
  try {
    const made = await makeRun(place, source, request, making, changes);
    await sealRun(layout, made.run, env);
    const lease = await createFileLeases(layout, runtime.storeOptions).create(made);
    await forgetMaking(layout, id);
    const opened = { lease, layout, env, changes: {}, retry: false, firstEvents: made.events };
    return await continueRun(opened, request, runtime);
  } catch (error) {
    if (!existsSync(layout.stateFile(id))) await undoMaking(layout, id, making, env);
    throw error;
  }
}

interface Place {
  readonly layout: FolderLayout;
  readonly storage: RunStorage;
  readonly env: NodeJS.ProcessEnv;
  readonly runtime: Runtime;
  /** The id of the new run. */
  readonly id: string;
  readonly startedAt: number;
  readonly cwd: string;
}

interface Source {
  readonly point: RunPoint;
  readonly points: readonly RunPoint[];
  /** The agent that the rerun begins with. */
  readonly agent: string;
  readonly earlier: EarlierRun;
}

/** Finds the point and the run as it was then. */
async function findSource(runRef: string, request: RerunRequest, storage: RunStorage): Promise<Source> {
  const id = await storage.runs.resolve(runRef);
  const points = await readPoints(id, storage);
  const point = findPoint(id, points, request.from);
  const earlier = await readRunBefore(storage.journal, id, point.seq, point.kind === 'question');
  const agent = point.kind === 'turn' ? point.start.agent : point.agent;
  if (request.input !== undefined) refuseInput(point);
  return { point, points, agent, earlier };
}

function refuseInput(point: RunPoint): void {
  if (point.kind === 'turn' && point.isEntry && point.start.evaluator === null) return;
  const what = point.kind === 'question' ? 'is a question' : 'does not begin a visit of its state';
  throw new RaymondError(`--input hands something to a state that is entered, but ${nameOfPoint(point)} ${what}.`, {
    exitCode: EXIT.usage,
    hint: 'Begin with the first turn of the visit, or say it to the agent: --say.',
  });
}

/** Makes everything that the new run needs, and the run itself; nothing of it is on disk yet but that. */
async function makeRun(
  place: Place,
  source: Source,
  request: RerunRequest,
  making: { folders: Making['folders']; sessions: Making['sessions'] },
  changes: Partial<Options>,
): Promise<{ readonly run: Run; readonly events: readonly Event[] }> {
  const { layout, id, env, startedAt, runtime } = place;
  const { earlier, agent, point } = source;
  const before = earlier.run;
  const only = request.only === true ? agent : null;
  const rewound = rewindTurns(earlier);
  const options = mergeOptions(before.options, changes);
  await makePrivateFolder(layout.runFolder(id), runtime.storeOptions.durable);
  const overlay = await layOver(place, request.with ?? {});
  const limits = { ...callLimitsOf(options, env, before), overlay };
  const workflow = await runtime.openWorkflow(before.workflow.path, before.workflow.platform, limits);
  refuseUnknownFiles(workflow, request.with ?? {});
  refuseSkippingAsRoot(workflow, options, env);
  const agents = liveAgents(rewound, only);
  for (const each of agents) await requireState(workflow, before.id, each.id, turnFileOf(each));
  const worktreeDir = options.worktreeDir === null ? null : resolve(place.cwd, options.worktreeDir);
  const root = runtime.isSandbox ? null : findWorktreesRoot(layout, env, worktreeDir);
  const workFolders = {
    ...layout.workFolders(id, options.taskFolderPattern),
    ...(root !== null && { worktrees: join(root, id) }),
  };
  const tasks = taskPairs(before, workFolders);
  const folders =
    request.files === 'now'
      ? []
      : chooseFolders({
          run: before.id,
          id,
          point,
          points: source.points,
          earlier,
          agents,
          listed: await readSnapshotList(layout.snapshotList(before.id)),
          worktrees: workFolders.worktrees ?? layout.worktreesFolder(id),
          others: tasks.map(([from]) => from),
        });
  if (request.files === 'now')
    refuseFoldersOfNow(
      before,
      agents.map(({ id: name, cwd }) => [name, cwd] as const),
    );
  const pairs = [...folders.map(({ from, path }) => [from, path] as const), ...tasks];
  const moved = createMover(pairs);
  const backend = await runtime.chooseBackend(options, env, workflow);
  if (agents.some((each) => isPrompt(turnFileOf(each)))) await backend.checkAvailable();
  const copier = await backend.openSessions(applyManifestEnvironment(workflow.manifest, env, env));
  const turns = source.points.filter((each) => each.kind === 'turn');
  const seq = point.kind === 'question' ? point.seq + 1 : point.seq;
  const ends = await readSessionEnds(before.id, place.storage, seq, before.rerunOf?.ends ?? {});
  const cuts: SessionCut[] = [];
  const sessions = sessionsOf(rewound, only);
  if (copier !== null) {
    for (const [session, cwd] of sessions) {
      const message = await findLastMessage(before.id, place.storage, ends, session);
      if (message === null && ends.unknown.has(session))
        throw lostSessionError(before.id, session, 'neither its journal nor its turns say where it stood', turns);
      if (message === null) continue;
      const links = layout.sessionsFolder(before.id);
      cuts.push({ session, copy: copyIdOf(id, session), message, from: cwd, to: moved(cwd), links, moved: pairs });
    }
  }
  making.folders = folders.map(({ path, worktree }) => ({
    path,
    worktree: before.workspace === null ? worktree : null,
  }));
  making.sessions = copier === null ? [] : (await Promise.all(cuts.map((cut) => copier.filesOf(cut)))).flat();
  await noteMaking(layout, id, making, env);
  const workspace = await makeFolders(place, before, folders, request, options);
  for (const [from, to] of tasks) if (existsSync(from)) await copyFolder(from, to);
  for (const cut of cuts) {
    const problem = (await copier?.copy(cut)) ?? null;
    if (problem !== null) throw lostSessionError(before.id, cut.session, problem, turns);
  }
  const copies = new Map(cuts.map((cut) => [cut.session, cut]));
  const startFolder = before.startFolder === null ? null : moved(before.startFolder);
  const pinned = await new CodeGuard(workflow, { id, startFolder }).pin();
  const plan: RerunPlan = {
    id,
    name: before.name,
    startedAt,
    attended: request.attended ?? false,
    workflow: { name: workflow.name, path: workflow.path, platform: workflow.platform },
    code: runtime.isSandbox
      ? pinned
      : withSettings(pinned, new SettingsGuard({ id, startFolder, startedAt }, env).pin()),
    joins: mentionsJoin(workflow.source),
    options,
    workFolders,
    workspace,
    origin: {
      run: before.id,
      point: describePoint(point),
      ends: Object.fromEntries(cuts.flatMap(({ copy, message }) => (message === null ? [] : [[copy, message]]))),
      overlay,
    },
    agent,
    only: request.only === true,
    input: request.input,
    message:
      request.say === undefined
        ? undefined
        : { id: `rerun-${id}`, text: request.say, by: 'rerun', saidAt: startedAt, turn: null, delivered: false },
    // Canned answers know no conversations: their ids stay.
    copyOf: copier === null ? (session) => session : (session) => copies.get(session)?.copy ?? null,
    moved,
    worktrees: new Map(folders.flatMap(({ ofAgent }) => (ofAgent === null ? [] : [[ofAgent.id, ofAgent.place]]))),
  };
  const run = beginAgain(earlier, plan);
  request.announce?.(announcement(run, folders));
  return { run, events: [...initialEvents(run), ...questionsAgain(run)] };
}

const describePoint = (point: RunPoint): string =>
  point.kind === 'question'
    ? `the question ${point.ask} (${point.state})`
    : `${nameOfPoint(point)} (${point.start.evaluator ?? point.start.state})`;

/** Says what is done again, because a script may have effects outside. */
function announcement(run: Run, [first]: readonly MovedFolder[]): string {
  const turns = due(run).flatMap((turn) =>
    'state' in turn && 'number' in turn ? [`${turn.agent}/${turn.number} (${turn.state})`] : [],
  );
  const origin = run.rerunOf;
  const place = first === undefined ? 'with the files as they are now' : `with the files of then in ${first.path}`;
  return `${run.id} is a rerun of ${origin?.run} from ${origin?.point}, ${place}. These begin anew: ${turns.join(', ') || 'none'}.`;
}

/** Puts files into the folder that is laid over the workflow; null if there are none. */
async function layOver({ layout, id, cwd }: Place, files: Readonly<Record<string, string>>): Promise<string | null> {
  const entries = Object.entries(files);
  if (entries.length === 0) return null;
  const folder = join(layout.runFolder(id), 'with');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const [file, path] of entries) {
    if (basename(file) !== file || file.startsWith('.'))
      throw withError(
        `\`${file}\` is not a file of the run's own workflow`,
        'Name one without a folder: --with REVIEW.md=new.md.',
      );
    const from = resolve(cwd, path);
    const stats = await stat(from).catch(() => null);
    if (stats === null || !stats.isFile())
      throw withError(`there is no file ${path}`, 'Name a file: --with REVIEW.md=new.md.');
    await copyFile(from, join(folder, file));
  }
  return folder;
}

/** A file that no state names would have no effect. */
function refuseUnknownFiles(workflow: Workflow, files: Readonly<Record<string, string>>): void {
  const [member] = workflow.members();
  if (Object.keys(files).length > 0 && member?.location.kind === 'yaml')
    throw withError(
      'no file can be laid over a workflow in one file',
      'Write it as a folder first: `raymond convert FLOW.yaml FOLDER`.',
    );
}

const withError = (reason: string, hint: string): RaymondError =>
  new RaymondError(`--with cannot be used: ${reason}.`, { exitCode: EXIT.usage, hint });

/** Throws a RaymondError if the workflow, as it is now, does not have the state of an agent. */
async function requireState(workflow: Workflow, run: string, agent: string, state: string): Promise<void> {
  try {
    await workflow.state(state);
  } catch (error) {
    if (!(error instanceof RaymondError)) throw error;
    throw new RaymondError(
      `${agent} of run ${run} was in ${state}, which the workflow as it is now does not have: ${error.message}`,
      {
        exitCode: EXIT.invalid,
        hint: `Put it back, bring it with --with ${basename(state)}=FILE, or rerun from a state that is there.`,
      },
    );
  }
}

function refuseFoldersOfNow(
  { id: run, workspace }: Run,
  folders: readonly (readonly [agent: string, cwd: string])[],
): void {
  if (workspace !== null)
    throw new RaymondError(`The run ${run} worked in a clone of its own, and no other run can work there.`, {
      exitCode: EXIT.usage,
      hint: 'Rerun it with the files of then, for which a clone is made: --files then.',
    });
  for (const [agent, cwd] of folders) {
    if (existsSync(cwd)) continue;
    throw new RaymondError(`${agent} of run ${run} worked in ${cwd}, which is gone.`, {
      exitCode: EXIT.usage,
      hint: 'Rerun it with the files of then: --files then, or without this agent: --only.',
    });
  }
}

/** The folders of tasks, and those that stand for them. */
function taskPairs(
  { workFolders: before }: Run,
  now: NonNullable<Run['workFolders']>,
): readonly (readonly [string, string])[] {
  if (before === null) return [];
  const above = (pattern: string): string => dirname(pattern.replace(/\{\{\s*agent_id\s*\}\}[\s\S]*$/, 'x'));
  const pairs = [[before.run, now.run] as const, [above(before.task), above(now.task)] as const];
  return pairs.filter(([from, to]) => from !== to);
}

/** Makes the folders with the files of then; the clone of a run is cloned anew. */
async function makeFolders(
  { layout, env, id }: Place,
  { id: original, workspace }: Run,
  folders: readonly MovedFolder[],
  { links = [] }: RerunRequest,
  options: Options,
): Promise<Workspace | null> {
  let made: Workspace | null = null;
  for (const folder of folders) {
    const { path, from, snapshot } = folder;
    const before = workspace?.place ?? null;
    const isClone = before !== null && path === join(dirname(path), 'main');
    if (isClone) {
      const source = parseWorkspace(options.workspace ?? before.remote);
      const wanted = { path, branch: branchOf(id, 'main'), source, before };
      const cloned = await restoreWorkspace(layout.snapshotsFolder, wanted, snapshot, { env });
      if ('message' in cloned) throw noFilesError(original, cloned.message);
      made = { kind: 'made', place: cloned.place };
    } else {
      const problem = await restoreFolder(layout.snapshotsFolder, folder, { env });
      if (problem !== null) throw noFilesError(original, problem);
    }
    const missing = existsSync(from) ? await bringIgnored(from, path, links, { env }) : links;
    if (missing.length > 0)
      throw new RaymondError(`--link cannot be used: there is no ${missing.join(', ')} in ${from}.`, {
        exitCode: EXIT.usage,
      });
  }
  return made;
}

const noFilesError = (run: string, reason: string): RaymondError =>
  new RaymondError(`The files of then of run ${run} cannot be restored: ${reason}.`, {
    exitCode: EXIT.usage,
    hint: 'Nothing was left behind. Rerun it with the files as they are now: --files now.',
  });

async function copyFolder(from: string, to: string): Promise<void> {
  try {
    await cp(from, to, { recursive: true, verbatimSymlinks: true, mode: constants.COPYFILE_FICLONE });
  } catch (error) {
    throw new RaymondError(`${from} cannot be copied: ${errorMessageOf(error)}.`, { exitCode: EXIT.usage });
  }
}

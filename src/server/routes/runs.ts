import { z } from 'zod';
import { continueDetachedRun, startDetachedRun } from '../../app/detached-run.ts';
import { launch } from '../../app/launch.ts';
import type { RunListEntry } from '../../app/list-runs.ts';
import { findPrunableRuns, pruneRuns } from '../../app/prune.ts';
import { readRunStatus, type StatusReport } from '../../app/status.ts';
import { drawRun } from '../../app/workflows/draw-graph.ts';
import { isLive } from '../../core/run/observed-status.ts';
import { END_STATUSES } from '../../core/run/run.ts';
import { createStatusDocument } from '../../documents/run-document.ts';
import { createRunListEntry } from '../../documents/run-list-document.ts';
import { DOCUMENTS } from '../../documents/schemas.ts';
import type { ApiRunDocument, ListedRunDocument } from '../../documents/types.ts';
import { memoize } from '../../language/text/memoize.ts';
import { listWaitingAsks } from '../../render/questions.ts';
import { Problem } from '../problem.ts';
import type { CatalogRun, Project } from '../project-catalog.ts';
import { defineRoute, jsonResponse, type Route } from '../route.ts';
import type { ServerContext } from '../server-context.ts';
import { checkReplayFile, countParam, RUN_SETTINGS, toFlags } from './run-requests.ts';

const STATUSES: readonly string[] = ['running', 'stopping', 'crashed', 'elsewhere', 'unreadable', ...END_STATUSES];

const FILTERS = z.strictObject({
  status: z
    .string()
    .refine((written) => written.split(',').every((status) => STATUSES.includes(status)), {
      error: `must be one of ${STATUSES.join(', ')}, or several of them, separated by commas`,
    })
    .optional()
    .describe('Statuses, separated by commas, as `raymond list --json` has them.'),
  needs_you: z
    .enum(['true', 'false'])
    .transform((written) => written === 'true')
    .optional()
    .describe('Only runs that a person has to do something about, or only the others.'),
  project: z.string().optional(),
  workflow: z.string().optional().describe('The name of the workflow.'),
  q: z.string().optional().describe('A part of the id or of the name.'),
  limit: countParam(1_000, 100),
  offset: z.coerce.number().int().min(0).default(0),
});

const START = z.strictObject({
  project: z.string(),
  workflow: z.string().describe('The id of the workflow, as `/workflows` lists it.'),
  input: z.string().optional(),
  name: z.string().min(1).max(200).optional(),
  variables: z.record(z.string(), z.string()).optional(),
  agent: z
    .string()
    .regex(/^replay:./, 'must be `replay:FILE`')
    .optional()
    .describe('Canned answers instead of Claude Code: `replay:FILE`, a file of the project.'),
  ...RUN_SETTINGS,
});

const RESUME = z.strictObject(RUN_SETTINGS);

/** The routes of runs. */
export const RUN_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/runs',
    summary: 'Lists runs: those that need a person first, then the unfinished, then the latest.',
    query: FILTERS,
    responds: 'As `raymond list --json`, with `project` and `needs_you` of each run and the `total` that fit.',
    response: DOCUMENTS.ApiRuns,
    handle: async ({ query }, { catalog }) => {
      const fitting = (await catalog.runs()).filter((run) => fits(run, query)).sort(compareRuns);
      const page = fitting.slice(query.offset, query.offset + query.limit);
      return { total: fitting.length, runs: page.map(toListDocument) };
    },
  }),
  defineRoute({
    method: 'post',
    path: '/runs',
    summary: 'Starts a run of a workflow, in a process of its own.',
    body: START,
    status: 201,
    responds: 'The id of the run.',
    response: DOCUMENTS.Started,
    handle: async ({ body }, server) => startRun(body, server),
  }),
  defineRoute({
    method: 'get',
    path: '/runs/{project}/{run}',
    summary: 'Shows a run.',
    responds: 'As `raymond status --json`, with `project`, `seq` (the last step, for `/events`) and `needs_you`.',
    response: DOCUMENTS.ApiRun,
    handle: async ({ params }, { catalog }) => {
      const project = await catalog.project(params.project ?? '');
      return toRunDocument(await readRun(project, params), project);
    },
  }),
  defineRoute({
    method: 'get',
    path: '/runs/{project}/{run}/graph',
    summary: 'Draws a run over its workflow.',
    query: z.strictObject({
      seq: z.string().optional().describe('No meaning: another one makes a browser ask again.'),
    }),
    type: 'image/svg+xml',
    responds: 'An SVG.',
    handle: async ({ params }, { catalog }) => {
      const project = await catalog.project(params.project ?? '');
      const { text } = await drawRun(params.run ?? '', 'svg', project.storage);
      return svgResponse(text);
    },
  }),
  defineRoute({
    method: 'post',
    path: '/runs/{project}/{run}/stop',
    summary: 'Stops a run as soon as its running turns have ended, or now.',
    body: z.strictObject({ now: z.boolean().default(false).describe('Whether to end the running turns, too.') }),
    status: 202,
    responds: 'The run is stopping.',
    response: DOCUMENTS.Stopping,
    handle: async ({ params, body }, server) => requestStop(params, body.now, server),
  }),
  defineRoute({
    method: 'post',
    path: '/runs/{project}/{run}/resume',
    summary: 'Continues a run in a process of its own, with the options it had unless the request changes them.',
    body: RESUME,
    status: 202,
    responds: 'The run continues.',
    response: DOCUMENTS.RunId,
    handle: async ({ params, body }, server) => resume(params, toFlags(body), server),
  }),
  defineRoute({
    method: 'post',
    path: '/runs/{project}/{run}/retry',
    summary: 'Continues a run and tries failed agents and interrupted scripts again.',
    body: RESUME,
    status: 202,
    responds: 'The run continues.',
    response: DOCUMENTS.RunId,
    handle: async ({ params, body }, server) => resume(params, ['--retry', ...toFlags(body)], server),
  }),
  defineRoute({
    method: 'delete',
    path: '/runs/{project}/{run}',
    summary: 'Removes a run with all its files. One that is running is refused.',
    status: 200,
    responds: 'The id of the run that is gone.',
    response: DOCUMENTS.RunId,
    handle: async ({ params }, { catalog, now }) => {
      const served = await catalog.project(params.project ?? '');
      const runs = [params.run ?? ''];
      const isListed = (await catalog.runs()).some(
        ({ project, entry }) => project.id === served.id && entry.id === params.run,
      );
      if (!isListed) throw noSuchRun(params.run);
      const found = await findPrunableRuns(served, {
        now: now(),
        runs,
        statuses: new Set(),
        olderThanMs: 0,
        keep: 0,
      });
      await pruneRuns(served, found, (_, error) => {
        if (error !== null) throw error;
      });
      return { run_id: params.run ?? '' };
    },
  }),
];

/** A response with a picture. Opened by itself, it may not do anything. */
export const svgResponse = (text: string): Response =>
  new Response(text, { headers: { 'content-type': 'image/svg+xml; charset=utf-8' } });

function fits({ project, entry }: CatalogRun, filters: z.infer<typeof FILTERS>): boolean {
  const status = entry.kind === 'run' ? entry.observedStatus : 'unreadable';
  const name = entry.kind === 'run' ? entry.name : '';
  return (
    (filters.project === undefined || project.id === filters.project) &&
    (filters.status === undefined || filters.status.split(',').includes(status)) &&
    (filters.needs_you === undefined || filters.needs_you === entryNeedsYou(entry)) &&
    (filters.workflow === undefined || (entry.kind === 'run' && entry.workflow.name === filters.workflow)) &&
    (filters.q === undefined || `${entry.id} ${name}`.toLowerCase().includes(filters.q.toLowerCase()))
  );
}

/** Statuses that only a person's action ends. */
const NEEDS_YOU: ReadonlySet<string> = new Set([
  'waiting',
  'paused',
  'failed',
  'crashed',
  'budget_exceeded',
  'iteration_limit',
]);

/** True if a run waits for a person. One of its agents may ask while others work. */
const needsYou = (status: string, questions: number): boolean => NEEDS_YOU.has(status) || questions > 0;

const entryNeedsYou = (entry: RunListEntry): boolean =>
  entry.kind === 'run' && needsYou(entry.observedStatus, entry.agents.asking ?? 0);

function compareRuns(a: CatalogRun, b: CatalogRun): number {
  return rankOf(a) - rankOf(b) || startOf(b) - startOf(a) || (a.entry.id < b.entry.id ? 1 : -1);
}

function rankOf({ entry }: CatalogRun): number {
  if (entry.kind === 'unreadable') return 3;
  if (entry.observedStatus !== 'failed' && entryNeedsYou(entry)) return 0;
  return isLive(entry.observedStatus) ? 1 : 2;
}

const startOf = ({ entry }: CatalogRun): number => (entry.kind === 'run' ? entry.startedAt : 0);

function toListDocument({ project, entry }: CatalogRun): ListedRunDocument {
  return { project: project.id, ...listEntryOf(entry), needs_you: entryNeedsYou(entry) };
}

/** The catalog gives the same entry as long as its run has not changed. */
const listEntryOf = memoize(createRunListEntry);

const noSuchRun = (id = ''): Problem =>
  new Problem(404, `no such run: ${id}`, { hint: 'What changes a run needs its whole id.' });

/** Reads a run that is to be changed: the beginning of its id is not enough, nor is `last`. */
async function readRunToChange(project: Project, params: Readonly<Record<string, string>>): Promise<StatusReport> {
  const report = await readRun(project, params);
  if (report.run.id !== params.run) throw noSuchRun(params.run);
  return report;
}

const readRun = ({ storage }: Project, { run = '' }: Readonly<Record<string, string>>): Promise<StatusReport> =>
  readRunStatus(run, storage);

function toRunDocument(report: StatusReport, project: Project): ApiRunDocument {
  const { clock } = project.storage;
  return {
    project: project.id,
    seq: report.run.seq,
    needs_you: needsYou(report.observedStatus, listWaitingAsks(report.run).length),
    ...createStatusDocument(report, report.history, clock.now()),
  };
}

async function startRun(
  body: z.infer<typeof START>,
  server: ServerContext,
): Promise<{ readonly run_id: string; readonly project: string }> {
  const { project, path, folder } = await server.catalog.workflow(body.project, body.workflow);
  const { input, name, agent, variables = {} } = body;
  if (agent !== undefined) checkReplayFile(agent, folder);
  const id = await startDetachedRun({
    command: server.command,
    env: server.env,
    cwd: folder,
    workflow: path,
    now: server.now(),
    storage: project.storage,
    launcher: project.launcher,
    flags: [
      ...toFlags(body),
      ...(agent === undefined ? [] : [`--agent=${agent}`]),
      ...Object.entries(variables).map(([key, value]) => `--var=${key}=${value}`),
    ],
    ...(input !== undefined && { input }),
    ...(name !== undefined && { name }),
  });
  return { run_id: id, project: project.id };
}

async function resume(
  params: Readonly<Record<string, string>>,
  flags: readonly string[],
  server: ServerContext,
): Promise<{ readonly run_id: string }> {
  const project = await server.catalog.project(params.project ?? '');
  const { run, observedStatus } = await readRunToChange(project, params);
  if (isLive(observedStatus)) throw new Problem(409, `The run ${run.id} is ${observedStatus}.`);
  if (observedStatus === 'completed') throw new Problem(409, `The run ${run.id} is over: it has completed.`);
  if (observedStatus === 'failed' && !flags.includes('--retry'))
    throw new Problem(409, `The run ${run.id} is over: it has failed.`, { hint: 'Retry it.' });
  const { storage, launcher, commandFolder: cwd } = project;
  await continueDetachedRun(run.id, { ...server, storage, launcher, cwd, flags });
  return { run_id: run.id };
}

async function requestStop(
  params: Readonly<Record<string, string>>,
  now: boolean,
  server: ServerContext,
): Promise<Response | { readonly run_id: string; readonly status: 'stopping' }> {
  const project = await server.catalog.project(params.project ?? '');
  const { run, observedStatus } = await readRunToChange(project, params);
  if (observedStatus === 'crashed') {
    const flags = now ? ['--now'] : [];
    await launch({
      command: server.command,
      env: server.env,
      cwd: project.folder,
      args: ['stop', run.id, '--no-database', ...flags],
      hasBegun: async () => true,
    });
    return jsonResponse({ run_id: run.id, status: 'stopping' }, 202);
  }
  if (!isLive(observedStatus)) throw new Problem(409, `The run ${run.id} is not running: ${observedStatus}.`);
  // The request is made; nobody waits for what comes of it.
  await project.launcher.stop(run.id, { env: server.env, now, signal: AbortSignal.abort() });
  return { run_id: run.id, status: 'stopping' };
}

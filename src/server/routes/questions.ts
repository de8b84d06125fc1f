import { createReadStream } from 'node:fs';
import { mkdtemp, open, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, sep } from 'node:path';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { findHandedFilesProblem } from '../../core/ask.ts';
import { continueDetachedRun } from '../../runtime/detached-run.ts';
import { guessMime } from '../../runtime/mime.ts';
import {
  answerQuestion,
  createAsksDocument,
  listQuestions,
  mustHaveText,
  readQuestion,
  waitUntilTakenUp,
} from '../../runtime/questions.ts';
import type { FormFile } from '../form-body.ts';
import { Problem } from '../problem.ts';
import { defineRoute, type Route } from '../route.ts';
import { commandPlaceOf, type ServerContext } from '../server-context.ts';

const ANSWER = z.strictObject({
  text: z.string().max(1_000_000),
  resume: z.stringbool().or(z.boolean()).default(true).describe('Whether to continue the run if no process drives it.'),
});

const PLACE = '/runs/{project}/{run}/questions/{ask}';

/** The routes of questions to people. */
export const QUESTION_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/questions',
    summary: 'Lists the questions that wait for a person, in all runs, the oldest first.',
    query: z.strictObject({ project: z.string().optional(), run: z.string().optional() }),
    responds: 'As `raymond asks --json`, with the `project` of each.',
    handle: async ({ query }, server) => ({ questions: await collectQuestions(query, server) }),
  }),
  defineRoute({
    method: 'get',
    path: `${PLACE}/files/{number}`,
    summary: 'Reads a file that belongs to a question: the number of it in `display_files`, from 0.',
    type: 'application/octet-stream',
    responds: 'The file.',
    handle: async ({ params }, server) => readDisplayFile(params, server),
  }),
  defineRoute({
    method: 'post',
    path: `${PLACE}/answer`,
    summary: 'Answers a question, with files if you like. The first answer counts.',
    body: ANSWER,
    form: true,
    responds: 'The run and the question, and whether the run goes on.',
    handle: async ({ params, body, files }, server) => answer(params, body, files, server),
  }),
];

async function collectQuestions(
  { project: wanted, run: wantedRun }: { readonly project?: string | undefined; readonly run?: string | undefined },
  { catalog }: ServerContext,
): Promise<readonly object[]> {
  const found: { readonly asked_at: string }[] = [];
  const asking = new Set(
    (await catalog.runs()).flatMap(({ project, entry }) =>
      entry.kind === 'run' && entry.agents.asking !== undefined ? [project] : [],
    ),
  );
  for (const project of asking) {
    if (wanted !== undefined && project.id !== wanted) continue;
    const waiting = (await listQuestions(project.control.location)).filter(({ run, answeredBy }) => {
      return answeredBy === null && (wantedRun === undefined || run.id === wantedRun);
    });
    const { questions } = createAsksDocument(waiting) as { questions: readonly { asked_at: string }[] };
    found.push(...questions.map((question) => ({ project: project.id, ...question })));
  }
  return found.sort((a, b) => (a.asked_at < b.asked_at ? -1 : 1));
}

/** The types that a browser may show by itself; anything else is only saved. */
const SHOWN_TYPES: ReadonlySet<string> = new Set(['image/gif', 'image/jpeg', 'image/png', 'image/webp']);

async function readDisplayFile(
  { project = '', run = '', ask = '', number = '' }: Readonly<Record<string, string>>,
  { catalog }: ServerContext,
): Promise<Response> {
  const { location } = (await catalog.project(project)).control;
  const { agent, folder } = await readQuestion(run, ask, location);
  const { path } = (/^\d{1,4}$/.test(number) && agent.phase.question.displayFiles[Number(number)]) || {};
  if (path === undefined || folder === null) throw new Problem(404, `The question ${ask} has no file ${number}.`);
  const file = await realpath(join(folder, path)).catch(() => null);
  const root = await realpath(folder).catch(() => null);
  // A link may lead anywhere, and an agent may have made it.
  if (file === null || root === null || !file.startsWith(`${root}${sep}`) || !(await stat(file)).isFile())
    throw new Problem(404, `${path} is not a file of the task folder.`);
  const type = guessMime(file);
  const isShown = SHOWN_TYPES.has(type);
  const handle = await open(file);
  const name = encodeURIComponent(basename(path));
  return new Response(Readable.toWeb(createReadStream(file, { fd: handle })) as ReadableStream, {
    headers: {
      'content-type': isShown
        ? type
        : type.startsWith('text/')
          ? 'text/plain; charset=utf-8'
          : 'application/octet-stream',
      'content-disposition': `${isShown || type.startsWith('text/') ? 'inline' : 'attachment'}; filename*=UTF-8''${name}`,
    },
  });
}

async function answer(
  { project = '', run = '', ask = '' }: Readonly<Record<string, string>>,
  { text, resume }: z.infer<typeof ANSWER>,
  files: readonly FormFile[],
  server: ServerContext,
): Promise<object> {
  const { location } = (await server.catalog.project(project)).control;
  const { agent } = await readQuestion(run, ask, location);
  if (mustHaveText(agent) && text.trim() === '' && files.length === 0)
    throw new Problem(422, 'body.text: there is no answer', {
      faults: [{ path: 'body.text', message: 'it is empty' }],
    });
  const handed = files.map(({ name, mime, content }) => {
    const isTold = mime !== '' && mime !== 'application/octet-stream';
    return { name, size: content.length, mime: isTold ? mime : guessMime(name) };
  });
  const problem = findHandedFilesProblem(agent.phase.question.uploads, handed);
  if (problem !== undefined) throw new Problem(problem.kind === 'too_large' ? 413 : 422, `${problem.message}.`);
  const staging = await mkdtemp(join(tmpdir(), 'raymond-upload-'));
  try {
    const uploads = files.map(({ name }, at) => ({ name, path: join(staging, String(at)) }));
    for (const [at, { content }] of files.entries()) await writeFile(join(staging, String(at)), content);
    const answered = await answerQuestion(run, { cwd: location, env: server.env, ask, text, uploads });
    const isDriven = (await waitUntilTakenUp(answered, location)) !== 'undriven';
    if (!isDriven && resume)
      await continueDetachedRun(answered.run, { ...server, ...commandPlaceOf(location, server) });
    return { run_id: answered.run, ask_id: answered.ask, goes_on: isDriven || resume };
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

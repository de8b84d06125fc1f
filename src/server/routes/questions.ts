import { createReadStream } from 'node:fs';
import { open, realpath, stat } from 'node:fs/promises';
import { basename, join, sep } from 'node:path';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { answer, createAnsweredDocument } from '../../app/answer.ts';
import { continueDetachedRun } from '../../app/detached-run.ts';
import { listQuestions, readQuestion } from '../../app/questions.ts';
import { createAsksDocument } from '../../documents/question-document.ts';
import { DOCUMENTS } from '../../documents/schemas.ts';
import type { AnsweredDocument, ApiQuestionsDocument } from '../../documents/types.ts';
import { guessMime } from '../../wiring/mime.ts';
import type { FormFile } from '../form-body.ts';
import { Problem } from '../problem.ts';
import { defineRoute, type Route } from '../route.ts';
import type { ServerContext } from '../server-context.ts';

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
    response: DOCUMENTS.ApiQuestions,
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
    responds: 'The run and the question, and whether the run continues.',
    response: DOCUMENTS.Answered,
    handle: async ({ params, body, files }, server) => giveAnswer(params, body, files, server),
  }),
];

async function collectQuestions(
  { project: wanted, run: wantedRun }: { readonly project?: string | undefined; readonly run?: string | undefined },
  { catalog }: ServerContext,
): Promise<ApiQuestionsDocument['questions']> {
  const found: ApiQuestionsDocument['questions'][number][] = [];
  const asking = new Set(
    (await catalog.runs()).flatMap(({ project, entry }) =>
      entry.kind === 'run' && entry.agents.asking !== undefined ? [project] : [],
    ),
  );
  for (const project of asking) {
    if (wanted !== undefined && project.id !== wanted) continue;
    const waiting = (await listQuestions(project.storage)).filter(({ run, answeredBy }) => {
      return answeredBy === null && (wantedRun === undefined || run.id === wantedRun);
    });
    const { questions } = createAsksDocument(waiting);
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
  const { storage } = await catalog.project(project);
  const { waiting, folder } = await readQuestion(run, ask, storage);
  const { path } = (/^\d{1,4}$/.test(number) && waiting.question.displayFiles[Number(number)]) || {};
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

async function giveAnswer(
  { project = '', run = '', ask = '' }: Readonly<Record<string, string>>,
  { text, resume }: z.infer<typeof ANSWER>,
  files: readonly FormFile[],
  server: ServerContext,
): Promise<AnsweredDocument> {
  const { storage, launcher, commandFolder: cwd } = await server.catalog.project(project);
  const proceed = (id: string): Promise<void> => continueDetachedRun(id, { ...server, storage, launcher, cwd });
  const request = { storage, env: server.env, ask, text, files, ...(resume && { resume: proceed }) };
  return createAnsweredDocument(await answer(run, request));
}

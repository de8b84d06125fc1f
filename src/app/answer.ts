import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { AnsweredDocument } from '../documents/types.ts';
import { formatLocalTime } from '../render/format.ts';
import { describeTimeout, listWaitingAsks } from '../render/questions.ts';
import { putAnswer, type Uploads } from '../storage/answers.ts';
import type { FoundRequest } from '../storage/requests.ts';
import type { RunStorage } from '../storage/storage.ts';
import { describeAnswerer } from '../wiring/answerer.ts';
import { AnswerRefused, type HandedFiles, readAnswerText, refuseFiles } from '../wiring/handed-files.ts';
import { findQuestion, overError } from './questions.ts';

/** An answer as a person gives it. */
export interface AnswerRequest {
  readonly storage: RunStorage;
  readonly env: NodeJS.ProcessEnv;
  /** The id of the question, or of the agent that asks; null if the run asks only one. */
  readonly ask: string | null;
  readonly text: string;
  readonly files: HandedFiles;
}

/** `taken`: the run has the answer; `driven`: its process will read it; `undriven`: somebody must resume the run. */
type AnswerUptake = 'taken' | 'driven' | 'undriven';

/** An answer that was given. */
export interface GivenAnswer {
  readonly run: string;
  readonly ask: string;
  readonly uptake: AnswerUptake;
  /** True if the run continues: a process drives it, or `resume` has started one. */
  readonly goesOn: boolean;
}

/**
 * Answers a question for the command line, the API and MCP clients, waits a moment for the process that drives the run, and resumes a
 * run without one if `resume` is given. Throws if there is no such question, if it is over, or if it does not take the answer.
 */
export async function answer(
  runRef: string,
  request: AnswerRequest & { readonly resume?: (run: string) => Promise<unknown> },
): Promise<GivenAnswer> {
  const { storage } = request;
  const { run, ask, isLive } = await giveAnswer(runRef, request);
  const uptake = isLive ? await waitForUptake(storage, run, ask) : 'undriven';
  if (uptake === 'undriven') await request.resume?.(run);
  return { run, ask, uptake, goesOn: uptake !== 'undriven' || request.resume !== undefined };
}

/** The document about an answer. */
export const createAnsweredDocument = ({ run, ask, goesOn }: GivenAnswer): AnsweredDocument => ({
  run_id: run,
  ask_id: ask,
  goes_on: goesOn,
});

async function giveAnswer(
  runRef: string,
  { storage, ask: wanted, text, files, env }: AnswerRequest,
): Promise<{ readonly run: string; readonly ask: string; readonly isLive: boolean }> {
  const id = await storage.runs.resolve(runRef);
  const { run, observedStatus } = await storage.runs.observe(id);
  const { ask, untilMs, question, interrupted } = await findQuestion(storage, run, wanted);
  const now = storage.clock.now();
  if (untilMs !== null && untilMs <= now)
    throw overError(id, ask, `its time was over at ${formatLocalTime(untilMs)}; ${describeTimeout(question)}`);
  // An agent that was interrupted continues where it was if the answer is empty.
  if (interrupted === undefined && text.trim() === '' && files.length === 0) throw emptyError();
  const chosen = readAnswerText(question, text, files.length > 0);
  refuseFiles(question.uploads, files);
  const given = { ask, text: chosen, by: describeAnswerer(env), answeredAt: now };
  if (await withFilesOnDisk(files, (uploads) => putAnswer(storage, id, given, uploads)))
    return { run: id, ask, isLive: observedStatus === 'running' };
  throw overError(id, ask, describeEnd(await storage.inbox.find(id, ask)));
}

/** Puts files that are in memory on disk for as long as the action takes. */
async function withFilesOnDisk<T>(files: HandedFiles, action: (uploads: Uploads) => Promise<T>): Promise<T> {
  if (files.every((file) => 'path' in file)) return action(files);
  const folder = await mkdtemp(join(tmpdir(), 'raymond-upload-'));
  try {
    const uploads = files.map(async (file, at) => {
      if ('path' in file) return file;
      const path = join(folder, String(at));
      await writeFile(path, file.content);
      return { name: file.name, mime: file.mime, path };
    });
    return await action(await Promise.all(uploads));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const POLL_INTERVAL_MS = 100;
const TAKE_UP_WITHIN_MS = 5_000;

/** Waits until the process that drives the run has settled the answer, but not for long: it may be stopped, or busy. */
async function waitForUptake({ runs, inbox }: RunStorage, run: string, ask: string): Promise<AnswerUptake> {
  for (let waitedMs = 0; ; waitedMs += POLL_INTERVAL_MS) {
    const seen = await runs.observe(run);
    if ((await inbox.find(run, ask))?.outcome != null) return 'taken';
    // The journal has the answer a moment before the inbox has its outcome.
    if (!listWaitingAsks(seen.run).some((each) => each.ask === ask)) return 'taken';
    if (seen.observedStatus !== 'running') return 'undriven';
    if (waitedMs >= TAKE_UP_WITHIN_MS) return 'driven';
    await delay(POLL_INTERVAL_MS);
  }
}

function describeEnd(end: FoundRequest | null): string {
  const request = end?.request;
  switch (request?.kind) {
    case 'answer':
      return `${request.by} answered it first, at ${formatLocalTime(request.at)}`;
    case 'timeout':
      return `nobody answered it in time, until ${formatLocalTime(request.at)}`;
    default:
      return 'the file of its answer cannot be read';
  }
}

const emptyError = (): AnswerRefused =>
  new AnswerRefused('empty', 'the answer was not given: it is empty', {
    hint: 'Write what is to be done, or hand over a file.',
  });

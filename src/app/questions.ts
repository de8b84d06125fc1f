import type { ObservedStatus } from '../core/run/observed-status.ts';
import type { WaitingAsk } from '../core/run/permission.ts';
import type { Run } from '../core/run/run.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { formatLocalTime } from '../render/format.ts';
import { describeQuestionEnd, findDisplayFolder, listWaitingAsks, type WaitingAnswers } from '../render/questions.ts';
import type { RunStorage } from '../storage/storage.ts';
import { AnswerRefused } from '../wiring/handed-files.ts';
import { streamRunEvents } from './run-files.ts';

/** A question that waits, and the run that it is part of. */
export interface WaitingQuestion {
  readonly run: Run;
  readonly waiting: WaitingAsk;
  readonly observedStatus: ObservedStatus;
  /** The author of an answer that the run has not recorded yet; null for none. */
  readonly answeredBy: string | null;
}

/** Lists all questions of the runs of a storage, the oldest first. */
export async function listQuestions(storage: RunStorage): Promise<readonly WaitingQuestion[]> {
  const { runs } = storage;
  const asking = (await runs.list('summaries')).filter((run) => run.kind === 'run' && run.agents.asking !== undefined);
  const questions: WaitingQuestion[] = [];
  for (const { id } of asking) {
    const { run, observedStatus } = await runs.observe(id);
    for (const waiting of listWaitingAsks(run)) {
      const answeredBy = await findAnswerer(storage, id, waiting);
      questions.push({ run, waiting, observedStatus, answeredBy });
    }
  }
  return questions.sort((a, b) => a.waiting.askedAt - b.waiting.askedAt);
}

async function findAnswerer({ inbox }: RunStorage, id: string, { ask }: WaitingAsk): Promise<string | null> {
  const request = (await inbox.find(id, ask))?.request;
  return request?.kind === 'answer' ? request.by : null;
}

/** Finds the answers to a run's questions that it has not taken up yet. */
export async function findWaitingAnswers(storage: RunStorage, run: Run): Promise<WaitingAnswers> {
  const found = new Map<string, string>();
  for (const waiting of listWaitingAsks(run)) {
    const by = await findAnswerer(storage, run.id, waiting);
    if (by !== null) found.set(waiting.ask, by);
  }
  return found;
}

/** A question that waits in a run, and the folder of its files. Throws if there is none, or if it is over. */
export async function readQuestion(
  runRef: string,
  ask: string,
  storage: RunStorage,
): Promise<{ readonly run: Run; readonly waiting: WaitingAsk; readonly folder: string | null }> {
  const { run } = await storage.runs.observe(await storage.runs.resolve(runRef));
  const waiting = await findQuestion(storage, run, ask);
  return { run, waiting, folder: findDisplayFolder(run, waiting.agent) };
}

/** The question that is meant: the named one, or the only one. */
export async function findQuestion(storage: RunStorage, run: Run, ask: string | null): Promise<WaitingAsk> {
  const asking = listWaitingAsks(run);
  if (ask !== null) {
    const found = asking.find((each) => each.ask === ask) ?? asking.find(({ agent }) => agent.id === ask);
    if (found !== undefined) return found;
    throw await explainMissing(storage, run, ask);
  }
  const answers = await findWaitingAnswers(storage, run);
  const now = storage.clock.now();
  const open = asking.filter((each) => describeQuestionEnd(each, answers, now) === null);
  // If every question has ended, the caller says how the last one did.
  const [only, second] = open.length === 0 ? asking.slice(-1) : open;
  if (only === undefined)
    throw new RaymondError(`the run ${run.id} asks nothing`, { exitCode: EXIT.usage, hint: SEE_ASKS_HINT });
  if (second === undefined) return only;
  throw new RaymondError(`the run ${run.id} asks ${open.length} questions`, {
    exitCode: EXIT.usage,
    hint: `Name one of them: ${open
      .slice(0, MAX_NAMED_ASKS)
      .map((each) => each.ask)
      .join(', ')}${open.length > MAX_NAMED_ASKS ? ' …' : ''}. \`raymond asks\` shows them.`,
  });
}

const SEE_ASKS_HINT = '`raymond asks` shows all questions that wait.';
const MAX_NAMED_ASKS = 5;

/** Says of a question that does not wait whether it is over, and how, or never was. */
async function explainMissing(storage: RunStorage, run: Run, ask: string): Promise<RaymondError> {
  let over: string | null = null;
  for await (const event of streamRunEvents(run.id, storage)) {
    if (event.kind === 'ask_answered' && event.ask === ask)
      over = `${event.by} answered it at ${formatLocalTime(event.answeredAt)}`;
    if (event.kind === 'ask_timed_out' && event.ask === ask)
      over = `nobody answered it in time, until ${formatLocalTime(event.at)}`;
    if (event.kind === 'asked' && event.ask === ask) over = 'its agent does not wait any more';
  }
  if (over !== null) return overError(run.id, ask, over);
  return new AnswerRefused('missing', `the run ${run.id} has no question \`${ask}\``, { hint: SEE_ASKS_HINT });
}

/** The error for a question that no longer waits; `why` says how it ended. */
export const overError = (run: string, ask: string, why: string): AnswerRefused =>
  new AnswerRefused('over', `the question ${ask} of ${run} is over: ${why}`, {
    hint: `This answer was not given to the run. \`raymond logs ${run}\` shows what happened.`,
  });

import { setTimeout as delay } from 'node:timers/promises';
import type { ObservedStatus } from '../core/observed-status.ts';
import type { Run } from '../core/run.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { formatLocalTime } from '../events/format.ts';
import {
  type AskingAgent,
  createAskDocument,
  findDisplayFolder,
  listAskingAgents,
  type WaitingAnswers,
} from '../events/questions.ts';
import type { Uploads } from '../store/answer-file.ts';
import type { QuestionEnd } from '../store/question-end.ts';
import { describeAnswerer } from './answerer.ts';
import { refuseFiles } from './handed-files.ts';
import { openRuns, type RunLocation } from './open-runs.ts';
import type { RunReader } from './run-reader.ts';

export type { Uploads } from '../store/answer-file.ts';

/** A question that waits, and the run that it is part of. */
export interface WaitingQuestion {
  readonly run: Run;
  readonly agent: AskingAgent;
  readonly observedStatus: ObservedStatus;
  /** Who has answered it, if the run has not taken that up yet; null if nobody has. */
  readonly answeredBy: string | null;
}

/** Lists all questions of the runs of a location, the oldest first. */
export async function listQuestions(location: RunLocation): Promise<readonly WaitingQuestion[]> {
  const runs = openRuns(location);
  const asking = (await runs.listRuns(false)).filter((run) => run.kind === 'run' && run.agents.asking !== undefined);
  const questions: WaitingQuestion[] = [];
  for (const { id } of asking) {
    const { run, observedStatus } = await runs.observeRun(id);
    for (const agent of listAskingAgents(run)) {
      const answeredBy = await findAnswerer(runs, id, agent);
      questions.push({ run, agent, observedStatus, answeredBy });
    }
  }
  return questions.sort((a, b) => a.agent.phase.askedAt - b.agent.phase.askedAt);
}

async function findAnswerer(runs: RunReader, id: string, { phase }: AskingAgent): Promise<string | null> {
  const end = await runs.readQuestionEnd(id, phase.ask);
  return end?.kind === 'answered' ? end.answer.by : null;
}

/** Finds the answers to a run's questions that it has not taken up yet. */
export async function findWaitingAnswers(runs: RunReader, run: Run): Promise<WaitingAnswers> {
  const found = new Map<string, string>();
  for (const agent of listAskingAgents(run)) {
    const by = await findAnswerer(runs, run.id, agent);
    if (by !== null) found.set(agent.phase.ask, by);
  }
  return found;
}

/** The document of `raymond asks --json`. */
export const createAsksDocument = (questions: readonly WaitingQuestion[]): unknown => ({
  questions: questions.map(({ run, agent, observedStatus, answeredBy }) => ({
    run_id: run.id,
    run_name: run.name,
    run_status: observedStatus,
    ...createAskDocument(run, agent),
    answered_by: answeredBy,
  })),
});

/** An answer as a person gives it. */
export interface AnswerRequest {
  /** Where the run is. */
  readonly cwd: RunLocation;
  readonly env: NodeJS.ProcessEnv;
  /** The id of the question, or of the agent that asks; may be left out if the run asks only one. */
  readonly ask: string | null;
  readonly text: string;
  readonly uploads: Uploads;
}

/** A question that has been answered: `isLive` says whether a process drives its run and takes the answer up. */
export interface AnsweredQuestion {
  readonly run: string;
  readonly ask: string;
  readonly isLive: boolean;
}

/** Answers a question of a run, whether it is alive or not. Throws if there is none, or if it is over. */
export async function answerQuestion(runRef: string, request: AnswerRequest): Promise<AnsweredQuestion> {
  const runs = openRuns(request.cwd);
  const id = await runs.resolveRunId(runRef);
  const { run, observedStatus } = await runs.observeRun(id);
  const agent = await findQuestion(runs, run, request.ask);
  const { ask, untilMs, question } = agent.phase;
  const now = Date.now();
  if (untilMs !== null && untilMs <= now)
    throw overError(
      id,
      ask,
      `its time was over at ${formatLocalTime(untilMs)}; the run goes on in ${question.timeoutNext}`,
    );
  if (mustHaveText(agent) && request.text.trim() === '' && request.uploads.length === 0) throw emptyError();
  refuseFiles(question.uploads, request.uploads);
  const answer = { ask, text: request.text, by: describeAnswerer(request.env), answeredAt: now };
  if (await runs.answer(id, answer, request.uploads)) return { run: id, ask, isLive: observedStatus === 'running' };
  throw overError(id, ask, describeEnd(await runs.readQuestionEnd(id, ask)));
}

/** A question that waits in a run, and the folder of its files. Throws if there is none, or if it is over. */
export async function readQuestion(
  runRef: string,
  ask: string,
  location: RunLocation,
): Promise<{ readonly run: Run; readonly agent: AskingAgent; readonly folder: string | null }> {
  const runs = openRuns(location);
  const { run } = await runs.observeRun(await runs.resolveRunId(runRef));
  const agent = await findQuestion(runs, run, ask);
  return { run, agent, folder: findDisplayFolder(run, agent) };
}

const POLL_INTERVAL_MS = 100;
const TAKE_UP_WITHIN_MS = 5_000;

/** What becomes of an answer: a process has taken it up, will when it comes to it, or is still to be started. */
type AnswerUptake = 'taken' | 'driven' | 'undriven';

/** Waits until the process that drives the run has taken the answer up, but not for long: it may be stopped, or busy. */
export async function waitUntilTakenUp(
  { run, ask, isLive }: AnsweredQuestion,
  location: RunLocation,
): Promise<AnswerUptake> {
  if (!isLive) return 'undriven';
  const runs = openRuns(location);
  for (let waitedMs = 0; ; waitedMs += POLL_INTERVAL_MS) {
    const seen = await runs.observeRun(run);
    if (!listAskingAgents(seen.run).some(({ phase }) => phase.ask === ask)) return 'taken';
    if (seen.observedStatus !== 'running') return 'undriven';
    if (waitedMs >= TAKE_UP_WITHIN_MS) return 'driven';
    await delay(POLL_INTERVAL_MS);
  }
}

/** An agent that was interrupted goes on where it was if the answer is empty; any other needs one. */
export const mustHaveText = ({ phase }: AskingAgent): boolean => phase.interrupted === undefined;

/** The question that is meant: the named one, or the only one. */
async function findQuestion(runs: RunReader, run: Run, ask: string | null): Promise<AskingAgent> {
  const asking = listAskingAgents(run);
  const [only, second] = asking;
  if (ask !== null) {
    const found = asking.find((agent) => agent.phase.ask === ask) ?? asking.find(({ id }) => id === ask);
    if (found !== undefined) return found;
    throw await explainMissing(runs, run, ask);
  }
  if (only === undefined)
    throw new RaymondError(`the run ${run.id} asks nothing`, { exitCode: EXIT.usage, hint: SEE_ASKS_HINT });
  if (second === undefined) return only;
  throw new RaymondError(`the run ${run.id} asks ${asking.length} questions`, {
    exitCode: EXIT.usage,
    hint: `Name one of them: ${asking
      .slice(0, MAX_NAMED_ASKS)
      .map(({ phase }) => phase.ask)
      .join(', ')}${asking.length > MAX_NAMED_ASKS ? ' …' : ''}. \`raymond asks\` shows them.`,
  });
}

const SEE_ASKS_HINT = '`raymond asks` shows all questions that wait.';
const MAX_NAMED_ASKS = 5;

/** Says of a question that does not wait whether it is over, and how, or never was. */
async function explainMissing(runs: RunReader, run: Run, ask: string): Promise<RaymondError> {
  let over: string | null = null;
  for await (const { event } of runs.readEvents(run.id)) {
    if (event.kind === 'ask_answered' && event.ask === ask)
      over = `${event.by} answered it at ${formatLocalTime(event.answeredAt)}`;
    if (event.kind === 'ask_timed_out' && event.ask === ask)
      over = `nobody answered it in time, until ${formatLocalTime(event.at)}`;
    if (event.kind === 'asked' && event.ask === ask) over = 'its agent does not wait any more';
  }
  if (over !== null) return overError(run.id, ask, over);
  return new RaymondError(`the run ${run.id} has no question \`${ask}\``, {
    exitCode: EXIT.usage,
    hint: SEE_ASKS_HINT,
  });
}

function describeEnd(end: QuestionEnd | undefined): string {
  switch (end?.kind) {
    case 'answered':
      return `${end.answer.by} answered it first, at ${formatLocalTime(end.answer.answeredAt)}`;
    case 'timed_out':
      return `nobody answered it in time, until ${formatLocalTime(end.at)}`;
    default:
      return 'the file of its answer cannot be read';
  }
}

const emptyError = (): RaymondError =>
  new RaymondError('the answer was not given: it is empty', {
    exitCode: EXIT.usage,
    hint: 'Write what is to be done, or hand over a file.',
  });

const overError = (run: string, ask: string, why: string): RaymondError =>
  new RaymondError(`the question ${ask} of ${run} is over: ${why}`, {
    exitCode: EXIT.usage,
    hint: `This answer was not given to the run. \`raymond logs ${run}\` shows what happened.`,
  });

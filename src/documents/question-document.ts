import type { ObservedStatus } from '../core/run/observed-status.ts';
import type { WaitingAsk } from '../core/run/permission.ts';
import type { Run } from '../core/run/run.ts';
import { formatAgentLabel } from '../render/agent-labels.ts';
import { formatIso } from '../render/format.ts';
import { findDisplayFolder, formatAnswerCommand } from '../render/questions.ts';
import { createQuestionFields } from './event-document.ts';
import type { QuestionDocument, QuestionsDocument } from './types.ts';

/** The question of an agent as documents have it. */
export function createAskDocument(run: Run, waiting: WaitingAsk): QuestionDocument {
  const { agent, ask, question, askedAt, untilMs } = waiting;
  return {
    ask_id: ask,
    agent: agent.id,
    label: formatAgentLabel(agent),
    state: agent.state,
    asked_at: formatIso(askedAt),
    ...createQuestionFields(question, untilMs),
    task_folder: findDisplayFolder(run, agent),
    answer_command: formatAnswerCommand(run.id, ask, question),
  };
}

/** A question with the run that asks it. */
interface QuestionOfRun {
  readonly run: Run;
  readonly waiting: WaitingAsk;
  readonly observedStatus: ObservedStatus;
  readonly answeredBy: string | null;
}

/** The document of `raymond asks --json`. */
export const createAsksDocument = (questions: readonly QuestionOfRun[]): QuestionsDocument => ({
  questions: questions.map(({ run, waiting, observedStatus, answeredBy }) => ({
    run_id: run.id,
    run_name: run.name,
    run_status: observedStatus,
    ...createAskDocument(run, waiting),
    answered_by: answeredBy,
  })),
});

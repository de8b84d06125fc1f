import { z } from 'zod';
import { answer, createAnsweredDocument } from '../app/answer.ts';
import { continueDetachedRun } from '../app/detached-run.ts';
import { listQuestions } from '../app/questions.ts';
import { ANSWERED_DOCUMENT } from '../documents/api-schemas.ts';
import { createAsksDocument } from '../documents/run-document.ts';
import { defineTool, type Tool } from './tool.ts';

/** The tools that answer questions meant for a person: only if the user says that this client may. */
export const QUESTION_TOOLS: readonly Tool[] = [
  defineTool({
    name: 'list_questions',
    title: 'List questions',
    description: 'Lists the questions that runs of this project ask a person.',
    input: {},
    output: { questions: z.array(z.looseObject({ run_id: z.string(), ask_id: z.string(), question: z.string() })) },
    readOnly: true,
    call: async (_, { storage }) => ({ ...createAsksDocument(await listQuestions(storage)) }),
  }),
  defineTool({
    name: 'answer_question',
    title: 'Answer a question',
    description:
      'Answers a question of a run in place of a person, and continues the run if no process drives it. The first answer counts. ' +
      'Answer only what the user has told you to answer.',
    input: {
      run: z.string().describe('The id of the run.'),
      ask: z.string().describe('The id of the question: its ask_id.'),
      text: z.string().min(1).describe('The answer.'),
    },
    output: ANSWERED_DOCUMENT.shape,
    readOnly: false,
    call: async ({ run, ask, text }, { cwd, storage, launcher, env, command }) => {
      const resume = (id: string): Promise<void> => continueDetachedRun(id, { cwd, storage, launcher, env, command });
      return createAnsweredDocument(await answer(run, { storage, env, ask, text, files: [], resume }));
    },
  }),
];

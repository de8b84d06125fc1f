import { z } from 'zod';
import { continueDetachedRun } from '../runtime/detached-run.ts';
import { answerQuestion, createAsksDocument, listQuestions, waitUntilTakenUp } from '../runtime/questions.ts';
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
    call: async (_, { control }) => ({ ...(createAsksDocument(await listQuestions(control.location)) as object) }),
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
    output: { run_id: z.string(), ask_id: z.string(), goes_on: z.boolean() },
    readOnly: false,
    call: async ({ run, ask, text }, { cwd, control, env, command }) => {
      const { location } = control;
      const answered = await answerQuestion(run, { cwd: location, env, ask, text, uploads: [] });
      if ((await waitUntilTakenUp(answered, location)) === 'undriven')
        await continueDetachedRun(answered.run, { cwd, location, env, command });
      return { run_id: answered.run, ask_id: answered.ask, goes_on: true };
    },
  }),
];

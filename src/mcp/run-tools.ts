import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { answer, createAnsweredDocument } from '../app/answer.ts';
import { loadConfig } from '../app/config/load-config.ts';
import { continueDetachedRun, startDetachedRun } from '../app/detached-run.ts';
import { listUnfinishedFirst } from '../app/list-runs.ts';
import { listQuestions } from '../app/questions.ts';
import { readRunStatus } from '../app/status.ts';
import { DEFAULT_OPTIONS } from '../core/options/options.ts';
import { microsToUsd, usdToMicros } from '../core/run/ledger.ts';
import { isLive } from '../core/run/status.ts';
import { ANSWERED_DOCUMENT } from '../documents/api-schemas.ts';
import { createAsksDocument, createStatusDocument, toRunListDocument } from '../documents/run-document.ts';
import type { McpStatusDocument } from '../documents/types.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { isWithin, realPathOf } from '../git-repository.ts';
import { logResource, readLogLines, statusResource } from './run-resources.ts';
import { defineTool, type McpContext, type RunResource, type Tool } from './tool.ts';

const RUN = z.string().default('last').describe('The id of a run, a unique beginning of it, or "last".');
const WAIT_SECONDS = z.number().min(0).max(600);

/** Less would be rounded to nothing, which means no limit. */
const MIN_BUDGET_USD = 0.01;

/** The fields of a status that every answer about a run has. */
const STATUS_FIELDS = {
  run_id: z.string(),
  status: z.string().describe('running, completed, failed, waiting, paused, budget_exceeded, …'),
  cost_usd: z.number(),
  waits_for: z.string().describe('What the run waits for, in words.'),
  next: z.string().nullable().describe('The command that makes the next step, for a person.'),
  agents_left_out: z.number().describe('How many of its agents are only in the linked resource.'),
};

const linkToStatus = ({ run_id, agents_left_out }: Readonly<Record<string, unknown>>): readonly RunResource[] =>
  agents_left_out === 0 ? [] : [statusResource(String(run_id))];

/** The tools about runs. */
export const RUN_TOOLS: readonly Tool[] = [
  defineTool({
    name: 'start_run',
    title: 'Start a run',
    description:
      'Starts a workflow. The run continues by itself; this waits at most `wait_seconds` for its end and then returns its id. ' +
      'It may cost money: pass a budget.',
    input: {
      workflow: z.string().describe('The path of the workflow, as list_workflows has it.'),
      input: z.string().optional().describe('The text that the first state gets.'),
      budget_usd: z
        .number()
        .min(MIN_BUDGET_USD)
        .optional()
        .describe('What the run may spend: at most the budget of config.toml, or 10 if that sets none.'),
      model: z.string().optional(),
      variables: z.record(z.string(), z.string()).optional(),
      agent: z
        .string()
        .regex(/^replay:.+\.(?:ya?ml|json)$/)
        .optional()
        .describe(
          'Canned answers instead of Claude Code: replay:FILE, a .yaml or .json file below the current folder.',
        ),
      wait_seconds: WAIT_SECONDS.default(10),
    },
    output: STATUS_FIELDS,
    links: linkToStatus,
    readOnly: false,
    call: async (args, context) => {
      const { workflow, input, budget_usd, model, variables = {}, agent, wait_seconds } = args;
      const { command, cwd, storage, launcher, env, now } = context;
      if (budget_usd !== undefined) refuseHigherBudget(budget_usd, context);
      if (agent !== undefined) refuseForeignFile(agent.replace(/^replay:/, ''), context);
      const flags = [
        ...(budget_usd === undefined ? [] : [`--budget=${budget_usd}`]),
        ...(model === undefined ? [] : [`--model=${model}`]),
        ...(agent === undefined ? [] : [`--agent=${agent}`]),
        ...Object.entries(variables).map(([name, value]) => `--var=${name}=${value}`),
      ];
      const id = await startDetachedRun({
        command,
        cwd,
        storage,
        launcher,
        env,
        flags,
        now: now(),
        workflow: resolve(cwd, workflow),
        ...(input !== undefined && { input }),
      });
      return awaitRun(id, wait_seconds, context);
    },
  }),
  defineTool({
    name: 'run_status',
    title: 'Show a run',
    description:
      'Shows where a run stands: its agents, what it waits for, what it has cost, warnings and denied tools.',
    input: { run: RUN },
    output: STATUS_FIELDS,
    links: linkToStatus,
    readOnly: true,
    call: async ({ run }, context) => readStatus(run, context),
  }),
  defineTool({
    name: 'await_run',
    title: 'Await a run',
    description:
      'Waits until a run has ended or needs a person, at most `wait_seconds`, then shows it as run_status does.',
    input: { run: RUN, wait_seconds: WAIT_SECONDS.default(60) },
    output: STATUS_FIELDS,
    links: linkToStatus,
    readOnly: true,
    call: async ({ run, wait_seconds }, context) => awaitRun(run, wait_seconds, context),
  }),
  defineTool({
    name: 'list_runs',
    title: 'List runs',
    description: 'Lists the runs of this project, unfinished ones first.',
    input: { limit: z.number().int().min(1).max(1_000).default(50) },
    output: { runs: z.array(z.looseObject({ run_id: z.string(), status: z.string() })) },
    readOnly: true,
    call: async ({ limit }, { storage }) => ({
      ...toRunListDocument((await listUnfinishedFirst(storage)).slice(0, limit)),
    }),
  }),
  defineTool({
    name: 'run_logs',
    title: 'Read the log of a run',
    description: 'The last lines of the log of a run: prompts, what agents said and did, scripts, transitions.',
    input: {
      run: RUN,
      agent: z.string().optional(),
      state: z.string().optional(),
      tail: z.number().int().min(1).max(2_000).default(200).describe('How many lines.'),
    },
    output: {
      run_id: z.string(),
      log: z.string(),
      is_cut: z.boolean().describe('Whether lines before these are only in the linked resource.'),
      more: z.string().describe('How a person reads more.'),
    },
    readOnly: true,
    links: ({ run_id, is_cut }) => (is_cut === true ? [logResource(String(run_id))] : []),
    call: async ({ run, agent, state, tail }, context) => {
      const { run: found } = await readRunStatus(run, context.storage);
      // One more than wanted, to know whether there are more.
      const lines = await readLogLines(found.id, context, { agent, state, tail: tail + 1 });
      const text = lines.slice(-tail).join('\n');
      const log = text.slice(-MAX_LOG_CHARS);
      const isCut = lines.length > tail || log.length < text.length;
      return { run_id: found.id, log, is_cut: isCut, more: `raymond logs ${found.id}` };
    },
  }),
  defineTool({
    name: 'stop_run',
    title: 'Stop a run',
    description: 'Stops a run as soon as its running turns have ended, or now. It can be resumed.',
    input: { run: RUN, now: z.boolean().default(false).describe('Whether to end the running turns, too.') },
    output: STATUS_FIELDS,
    links: linkToStatus,
    readOnly: false,
    destructive: true,
    call: async ({ run, now }, context) => {
      const { launcher, env } = context;
      await launcher.stop(run, { env, now, signal: AbortSignal.timeout(STOP_WAIT_MS) });
      return readStatus(run, context);
    },
  }),
];

/** A client may lower the budget that the user has set, and not raise it. */
function refuseHigherBudget(budgetUsd: number, { cwd, env }: McpContext): void {
  const { budgetMicros } = { ...DEFAULT_OPTIONS, ...loadConfig(cwd, env).options };
  if (budgetMicros === null || usdToMicros(budgetUsd) <= budgetMicros) return;
  throw new RaymondError(`The budget may be at most $${microsToUsd(budgetMicros)}, as the settings here say.`, {
    exitCode: EXIT.usage,
    hint: 'Pass a lower budget_usd, or leave it out. The user can set `budget` in config.toml.',
  });
}

/** Problems quote the file, so no file outside of the project is read. */
function refuseForeignFile(path: string, { cwd }: McpContext): void {
  if (isWithin(realPathOf(resolve(cwd, path)), realPathOf(cwd))) return;
  throw new RaymondError(`${path} is not below the current folder.`, {
    exitCode: EXIT.usage,
    hint: 'Name a file of canned answers of this project.',
  });
}

/** An answer that is longer would fill the memory of the agent that asked. */
const MAX_LOG_CHARS = 60_000;
const MAX_AGENTS = 50;
const STOP_WAIT_MS = 10_000;
const POLL_INTERVAL_MS = 250;

async function readStatus(run: string, { storage }: McpContext): Promise<McpStatusDocument> {
  const report = await readRunStatus(run, storage);
  const document = createStatusDocument(report, report.history, storage.clock.now());
  const agents = document.agents.slice(0, MAX_AGENTS);
  return { ...document, agents, agents_left_out: document.agents.length - agents.length };
}

async function awaitRun(run: string, seconds: number, context: McpContext): Promise<McpStatusDocument> {
  const { storage } = context;
  const id = await storage.runs.resolve(run);
  const deadline = context.now() + seconds * 1_000;
  while (context.now() < deadline && isLive((await storage.runs.observe(id)).observedStatus))
    await delay(POLL_INTERVAL_MS);
  return readStatus(run, context);
}

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

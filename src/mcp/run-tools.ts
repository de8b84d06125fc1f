import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { isLive } from '../core/observed-status.ts';
import { createStatusDocument } from '../events/run-document.ts';
import { startDetachedRun } from '../runtime/detached-run.ts';
import { listRuns, toRunListDocument } from '../runtime/list-runs.ts';
import { getStatus } from '../runtime/status.ts';
import { logResource, readLogLines, statusResource } from './run-resources.ts';
import { defineTool, type McpContext, type RunResource, type Tool } from './tool.ts';

const RUN = z.string().default('last').describe('The id of a run, a unique beginning of it, or "last".');
const WAIT_SECONDS = z.number().min(0).max(600);

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
      'Starts a workflow. The run goes on by itself; this waits at most `wait_seconds` for its end and then returns its id. ' +
      'It may cost money: pass a budget.',
    input: {
      workflow: z.string().describe('The path of the workflow, as list_workflows has it.'),
      input: z.string().optional().describe('The text that the first state gets.'),
      budget_usd: z.number().min(0).optional().describe('What the run may spend.'),
      model: z.string().optional(),
      variables: z.record(z.string(), z.string()).optional(),
      agent: z
        .string()
        .regex(/^replay:./)
        .optional()
        .describe('Canned answers instead of Claude Code: replay:FILE.'),
      wait_seconds: WAIT_SECONDS.default(10),
    },
    output: STATUS_FIELDS,
    links: linkToStatus,
    readOnly: false,
    call: async (args, context) => {
      const { workflow, input, budget_usd, model, variables = {}, agent, wait_seconds } = args;
      const { command, cwd, control, env, now } = context;
      const flags = [
        ...(budget_usd === undefined ? [] : [`--budget=${budget_usd}`]),
        ...(model === undefined ? [] : [`--model=${model}`]),
        ...(agent === undefined ? [] : [`--agent=${agent}`]),
        ...Object.entries(variables).map(([name, value]) => `--var=${name}=${value}`),
      ];
      const id = await startDetachedRun({
        command,
        cwd,
        location: control.location,
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
    call: async ({ limit }, { control }) => ({
      ...toRunListDocument((await listRuns(control.location)).slice(0, limit)),
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
      const { run: found } = await getStatus(run, context.control.location);
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
      const { control, env } = context;
      await control.stop(run, { env, now, signal: AbortSignal.timeout(STOP_WAIT_MS) });
      return readStatus(run, context);
    },
  }),
];

/** An answer that is longer would fill the memory of the agent that asked. */
const MAX_LOG_CHARS = 60_000;
const MAX_AGENTS = 50;
const STOP_WAIT_MS = 10_000;
const POLL_INTERVAL_MS = 250;

type StatusDocument = Readonly<Record<string, unknown>> & { readonly agents: readonly object[] };

async function readStatus(run: string, { control, now }: McpContext): Promise<Record<string, unknown>> {
  const report = await getStatus(run, control.location);
  const document = createStatusDocument(report, report.history, now()) as StatusDocument;
  const agents = document.agents.slice(0, MAX_AGENTS);
  return { ...document, agents, agents_left_out: document.agents.length - agents.length };
}

async function awaitRun(run: string, seconds: number, context: McpContext): Promise<Record<string, unknown>> {
  const deadline = context.now() + seconds * 1_000;
  while (context.now() < deadline && isLive((await getStatus(run, context.control.location)).observedStatus))
    await delay(POLL_INTERVAL_MS);
  return readStatus(run, context);
}

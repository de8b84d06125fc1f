import { z } from 'zod';
import { LIBRARY_FINDING, TESTS_DOCUMENT } from './report-schemas.ts';
import { ASKED_QUESTION, READABLE_RUN, STATUS_DOCUMENT, UNREADABLE_RUN } from './run-schemas.ts';
import { TEXT_LIST, TEXT_OR_NULL, WHOLE_NUMBER } from './shared-schemas.ts';

/** A refusal of the API, as `application/problem+json`. */
export const PROBLEM_DOCUMENT = z.object({
  type: z.string(),
  title: z.string(),
  status: WHOLE_NUMBER,
  detail: z.string(),
  hint: z.string().exactOptional(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).exactOptional(),
});

const listed = { project: z.string(), needs_you: z.boolean() };

/** A run in the list of the API. */
export const LISTED_RUN = z.union([READABLE_RUN.extend(listed), UNREADABLE_RUN.extend(listed)]);

/** The runs of all projects. */
export const API_RUNS_DOCUMENT = z.object({ total: WHOLE_NUMBER, runs: z.array(LISTED_RUN) });

/** A run of the API. */
export const API_RUN_DOCUMENT = z.object({ ...listed, seq: z.int(), ...STATUS_DOCUMENT.shape });

/** The questions of all projects. */
export const API_QUESTIONS_DOCUMENT = z.object({ questions: z.array(ASKED_QUESTION.extend({ project: z.string() })) });

/** The response to an answer, also of the MCP server. */
export const ANSWERED_DOCUMENT = z.object({ run_id: z.string(), ask_id: z.string(), goes_on: z.boolean() });

/** The response to a request about a run. */
export const RUN_ID_DOCUMENT = z.object({ run_id: z.string() });

/** The response to the start of a run. */
export const STARTED_DOCUMENT = RUN_ID_DOCUMENT.extend({ project: z.string() });

/** The response to a request to stop a run. */
export const STOPPING_DOCUMENT = RUN_ID_DOCUMENT.extend({ status: z.literal('stopping') });

/** The response to an interruption. */
export const INTERRUPTED_DOCUMENT = RUN_ID_DOCUMENT.extend({ agent: z.string(), state: z.string() });

/** The project folders. */
export const PROJECTS_DOCUMENT = z.object({ projects: z.array(z.object({ id: z.string(), folder: z.string() })) });

const INPUT = z.object({
  mode: z.enum(['required', 'optional', 'none']),
  label: TEXT_OR_NULL,
  description: TEXT_OR_NULL,
});

const WORKFLOW_FIELDS = { id: z.string(), project: z.string(), path: z.string(), name: z.string() };

const READABLE_WORKFLOW = z.object({
  ...WORKFLOW_FIELDS,
  title: TEXT_OR_NULL,
  description: TEXT_OR_NULL,
  input: INPUT,
  default_budget_usd: z.number().nullable(),
  requires_human_input: z.boolean(),
  states: TEXT_LIST,
  error: z.null(),
});

const UNREADABLE_WORKFLOW = z.object({ ...WORKFLOW_FIELDS, error: z.string() });

/** A workflow in a list. */
export const LISTED_WORKFLOW = z.union([READABLE_WORKFLOW, UNREADABLE_WORKFLOW]);

/** The workflows below the roots. */
export const WORKFLOWS_DOCUMENT = z.object({ workflows: z.array(LISTED_WORKFLOW) });

const findings = { findings: z.array(LIBRARY_FINDING) };

/** A workflow with its findings. */
export const WORKFLOW_DOCUMENT = z.union([READABLE_WORKFLOW.extend(findings), UNREADABLE_WORKFLOW.extend(findings)]);

/** A drawing as Mermaid. */
export const MERMAID_DOCUMENT = z.object({ mermaid: z.string() });

/** The workflows below a folder, for MCP clients. */
export const MCP_WORKFLOWS_DOCUMENT = z.object({
  workflows: z.array(
    z.union([
      z.object({ path: z.string(), name: z.string(), description: TEXT_OR_NULL, input: INPUT, states: WHOLE_NUMBER }),
      z.object({ path: z.string(), error: z.string() }),
    ]),
  ),
});

/** The findings in a workflow, for MCP clients. */
export const MCP_LINT_DOCUMENT = z.object({ errors: WHOLE_NUMBER, warnings: WHOLE_NUMBER, ...findings });

/** The results of tests, for MCP clients. */
export const MCP_TESTS_DOCUMENT = z.object({ report: TESTS_DOCUMENT, exit_code: WHOLE_NUMBER });

/** The status of a run, for MCP clients; a long list of agents is cut. */
export const MCP_STATUS_DOCUMENT = z.object({ ...STATUS_DOCUMENT.shape, agents_left_out: WHOLE_NUMBER });

/** The last lines of a log, for MCP clients. */
export const MCP_LOG_DOCUMENT = z.object({
  run_id: z.string(),
  log: z.string(),
  is_cut: z.boolean(),
  more: z.string(),
});

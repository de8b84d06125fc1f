import type { z } from 'zod';
import * as api from './api-schemas.ts';
import * as events from './event-schemas.ts';
import * as reports from './report-schemas.ts';
import * as runs from './run-schemas.ts';
import * as turns from './turn-schemas.ts';

/** Every document that Raymond emits, by the name that it has in the OpenAPI document. */
export const DOCUMENTS = {
  Run: runs.RUN_DOCUMENT,
  Status: runs.STATUS_DOCUMENT,
  RunList: runs.RUN_LIST_DOCUMENT,
  AllRuns: runs.ALL_RUNS_DOCUMENT,
  Questions: runs.QUESTIONS_DOCUMENT,
  Event: events.EVENT_DOCUMENT,
  Step: events.STEP_DOCUMENT,
  Journal: events.JOURNAL_DOCUMENT,
  Turn: turns.TURN_DOCUMENT,
  Diff: turns.DIFF_DOCUMENT,
  TurnList: turns.TURN_LIST_DOCUMENT,
  TurnDeltas: turns.TURN_DELTAS_DOCUMENT,
  Costs: reports.COSTS_DOCUMENT,
  Lint: reports.LINT_DOCUMENT,
  Tests: reports.TESTS_DOCUMENT,
  Config: reports.CONFIG_DOCUMENT,
  Doctor: reports.DOCTOR_DOCUMENT,
  Prune: reports.PRUNE_DOCUMENT,
  Worktrees: reports.WORKTREES_DOCUMENT,
  Nodes: reports.NODES_DOCUMENT,
  Say: reports.SAY_DOCUMENT,
  Notification: reports.NOTIFICATION_DOCUMENT,
  Problem: api.PROBLEM_DOCUMENT,
  ApiRuns: api.API_RUNS_DOCUMENT,
  ApiRun: api.API_RUN_DOCUMENT,
  ApiQuestions: api.API_QUESTIONS_DOCUMENT,
  Answered: api.ANSWERED_DOCUMENT,
  RunId: api.RUN_ID_DOCUMENT,
  Started: api.STARTED_DOCUMENT,
  Stopping: api.STOPPING_DOCUMENT,
  Interrupted: api.INTERRUPTED_DOCUMENT,
  Projects: api.PROJECTS_DOCUMENT,
  Workflows: api.WORKFLOWS_DOCUMENT,
  Workflow: api.WORKFLOW_DOCUMENT,
  Mermaid: api.MERMAID_DOCUMENT,
  McpWorkflows: api.MCP_WORKFLOWS_DOCUMENT,
  McpLint: api.MCP_LINT_DOCUMENT,
  McpTests: api.MCP_TESTS_DOCUMENT,
  McpStatus: api.MCP_STATUS_DOCUMENT,
  McpLog: api.MCP_LOG_DOCUMENT,
} as const satisfies Record<string, z.ZodType>;

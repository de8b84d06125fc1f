import { relative } from 'node:path';
import { z } from 'zod';
import { drawWorkflow } from '../../app/workflows/draw-graph.ts';
import { lintWorkflow } from '../../app/workflows/lint-workflow.ts';
import { readWorkflowSummary } from '../../app/workflows/workflow-summary.ts';
import { microsToUsd } from '../../core/run/ledger.ts';
import { DOCUMENTS } from '../../documents/schemas.ts';
import type { ListedWorkflowDocument } from '../../documents/types.ts';
import { RaymondError } from '../../errors.ts';
import type { CatalogWorkflow } from '../project-catalog.ts';
import { defineRoute, jsonResponse, type Route } from '../route.ts';
import { svgResponse } from './runs.ts';

/** The routes of projects and workflows. */
export const WORKFLOW_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/projects',
    summary: 'Lists the project folders.',
    responds: 'The `projects`, each with its `id` and `folder`.',
    response: DOCUMENTS.Projects,
    handle: async (_, { catalog }) => ({
      projects: (await catalog.projects()).map(({ id, folder }) => ({ id, folder })),
    }),
  }),
  defineRoute({
    method: 'get',
    path: '/workflows',
    summary: 'Lists the workflows below the roots.',
    responds: 'The `workflows`; one that cannot be read has an `error`.',
    response: DOCUMENTS.Workflows,
    handle: async (_, { catalog }) => ({ workflows: await Promise.all((await catalog.workflows()).map(toDocument)) }),
  }),
  defineRoute({
    method: 'get',
    path: '/workflows/{project}/{workflow}',
    summary: 'Shows a workflow with what lint says about it.',
    responds: 'As in the list, with `states` and `findings` as `raymond lint --json` has them.',
    response: DOCUMENTS.Workflow,
    handle: async ({ params }, { catalog, env }) => {
      const workflow = await catalog.workflow(params.project ?? '', params.workflow ?? '');
      const { findings } = await lintWorkflow(workflow.path, { cwd: workflow.folder, env });
      return { ...(await toDocument(workflow)), findings };
    },
  }),
  defineRoute({
    method: 'get',
    path: '/workflows/{project}/{workflow}/graph',
    summary: 'Draws a workflow.',
    query: z.strictObject({ format: z.enum(['svg', 'mermaid']).default('svg') }),
    type: 'image/svg+xml',
    responds: 'An SVG, or text for Mermaid.',
    handle: async ({ params, query }, { catalog, env }) => {
      const { path, folder } = await catalog.workflow(params.project ?? '', params.workflow ?? '');
      const { text } = await drawWorkflow(path, query.format, { cwd: folder, env });
      return query.format === 'svg' ? svgResponse(text) : jsonResponse({ mermaid: text });
    },
  }),
];

async function toDocument({ id, project, path, folder }: CatalogWorkflow): Promise<ListedWorkflowDocument> {
  const base = { id, project: project.id, path: relative(folder, path) || '.' };
  try {
    const { name, manifest, states, needsPeople } = await readWorkflowSummary(path);
    return {
      ...base,
      name,
      title: manifest.name,
      description: manifest.description,
      input: manifest.input,
      default_budget_usd: manifest.budgetMicros === null ? null : microsToUsd(manifest.budgetMicros),
      requires_human_input: needsPeople,
      states,
      error: null,
    };
  } catch (error) {
    if (!(error instanceof RaymondError)) throw error;
    return { ...base, name: base.path, error: error.message };
  }
}

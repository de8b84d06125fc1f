import { z } from 'zod';
import { collectCosts, createCostDocument } from '../../app/costs.ts';
import { DOCUMENTS } from '../../documents/schemas.ts';
import { COST_GROUPS } from '../../render/cost-tally.ts';
import { defineRoute, type Route } from '../route.ts';

/** The route of costs. */
export const COST_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/costs',
    summary: 'Adds up what the runs of all projects have cost.',
    query: z.strictObject({
      by: z.enum(COST_GROUPS).default('day'),
      since: z.iso.datetime({ offset: true }).optional().describe('Only turns that ended then or later.'),
      project: z.string().optional(),
    }),
    responds: 'As `raymond costs --json`.',
    response: DOCUMENTS.Costs,
    handle: async ({ query: { by, since, project } }, { catalog }) => {
      const projects = project === undefined ? await catalog.projects() : [await catalog.project(project)];
      const sinceMs = since === undefined ? null : Date.parse(since);
      const costs = await collectCosts({ storages: projects.map(({ storage }) => storage), by, sinceMs });
      return createCostDocument(costs, by, sinceMs);
    },
  }),
];

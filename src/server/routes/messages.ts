import { z } from 'zod';
import { createSayDocument, interruptTurn, sendMessage } from '../../app/say.ts';
import { DOCUMENTS } from '../../documents/schemas.ts';
import { Problem } from '../problem.ts';
import { defineRoute, type Route } from '../route.ts';

const AGENT = z.string().min(1).max(200).optional().describe('Its id; may be left out if only one is at work.');

/** The routes to talk to agents. */
export const WORD_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'post',
    path: '/runs/{project}/{run}/say',
    summary: 'Says something to an agent: in its running turn, or before its next prompt.',
    body: z.strictObject({ agent: AGENT, text: z.string() }),
    status: 202,
    responds: 'As `raymond say --json`: `delivery` is `turn`, `prompt`, `resume` or `unknown`.',
    response: DOCUMENTS.Say,
    handle: async ({ params: { project = '', run = '' }, body }, { catalog, env }) => {
      const { storage } = await catalog.project(project);
      const { agent = null, text } = body;
      return createSayDocument(await sendMessage(run, { storage, env, agent, text, isWholeId: true }));
    },
  }),
  defineRoute({
    method: 'post',
    path: '/runs/{project}/{run}/interrupt',
    summary: 'Ends the running turn of an agent, which continues with the text in the same conversation, or asks.',
    body: z.strictObject({ agent: AGENT, text: z.string().optional() }),
    status: 202,
    responds: 'The agent is being interrupted.',
    response: DOCUMENTS.Interrupted,
    handle: async ({ params: { project = '', run = '' }, body }, { catalog, env }) => {
      const { storage } = await catalog.project(project);
      const { agent = null, text = '' } = body;
      const words = text.trim() === '' ? null : text;
      const outcome = await interruptTurn(run, { storage, env, agent, text: words, isWholeId: true });
      if (!outcome.isTakenUp) throw new Problem(503, `The process of ${outcome.run} does not respond.`);
      return { run_id: outcome.run, agent: outcome.agent.id, state: outcome.agent.state };
    },
  }),
];

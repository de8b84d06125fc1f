import { z } from 'zod';
import { readRunStatus } from '../../app/status.ts';
import { createEventDocument } from '../../documents/event-document.ts';
import { DOCUMENTS } from '../../documents/schemas.ts';
import { openEventStream } from '../event-stream.ts';
import { defineRoute, type Route } from '../route.ts';
import { countParam } from './run-requests.ts';

const AFTER = z.coerce.number().int().min(-1).optional();

/** The routes of events. */
export const EVENT_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/runs/{project}/{run}/events',
    summary: 'Streams the steps of a run, those to come included, and what running turns say, as server-sent events.',
    query: z.strictObject({ after: AFTER.describe('Begin after this step; a `Last-Event-ID` wins over it.') }),
    type: 'text/event-stream',
    responds:
      'Messages `step` whose id is the step: `{seq, events}` with events as `--events` prints them. Messages `delta` without an id: ' +
      '`{turns}`, each with `agent`, `turn`, `state`, the `entries` of the last 100 ms, and how many came before, `first`.',
    handle: async ({ params, query, raw }, server) => {
      const { storage } = await server.catalog.project(params.project ?? '');
      const { run } = await readRunStatus(params.run ?? '', storage);
      const last = raw.headers.get('last-event-id');
      const after = last !== null && /^\d{1,15}$/.test(last) ? Number(last) : (query.after ?? -1);
      return openEventStream(raw.signal, (signal, send) =>
        server.feeds.follow({ id: run.id, storage }, after, signal, (message) =>
          send(message.kind, message.text, message.kind === 'step' ? message.seq : undefined),
        ),
      );
    },
  }),
  defineRoute({
    method: 'get',
    path: '/runs/{project}/{run}/journal',
    summary: 'Reads the steps of a run after a step, as far as they have come.',
    query: z.strictObject({ after: AFTER, limit: countParam(10_000, 1_000) }),
    responds: 'The `steps`, each `{seq, events}`, and whether there are `more`.',
    response: DOCUMENTS.Journal,
    handle: async ({ params, query }, { catalog, journals }) => {
      const { storage } = await catalog.project(params.project ?? '');
      const { run } = await readRunStatus(params.run ?? '', storage);
      const { steps, more } = await journals.read({ id: run.id, storage }, query.after ?? -1, query.limit);
      return { steps: steps.map(({ seq, events }) => ({ seq, events: events.map(createEventDocument) })), more };
    },
  }),
];

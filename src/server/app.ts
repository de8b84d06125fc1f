import { Hono, type HonoRequest } from 'hono';
import { z } from 'zod';
import { type AccessRules, isSame, refuseForeign, refuseStranger, SECURITY_HEADERS, tokenCookie } from './access.ts';
import { createOpenApiDocument } from './openapi.ts';
import type { PageFiles } from './page-files.ts';
import { Problem, problemPage, problemResponse, toProblem } from './problem.ts';
import { defineRoute, type Route } from './route.ts';
import { EVENT_ROUTES } from './routes/events.ts';
import { WORD_ROUTES } from './routes/messages.ts';
import { QUESTION_ROUTES } from './routes/questions.ts';
import { COST_ROUTES, RUN_ROUTES } from './routes/runs.ts';
import { TURN_ROUTES } from './routes/turns.ts';
import { WORKFLOW_ROUTES } from './routes/workflows.ts';
import type { ServerContext } from './server-context.ts';

const DATA_ROUTES: readonly Route[] = [
  ...WORKFLOW_ROUTES,
  ...RUN_ROUTES,
  ...TURN_ROUTES,
  ...EVENT_ROUTES,
  ...QUESTION_ROUTES,
  ...WORD_ROUTES,
  ...COST_ROUTES,
];

/** All operations of the API. */
export const ROUTES: readonly Route[] = [
  ...DATA_ROUTES,
  defineRoute({
    method: 'get',
    path: '/openapi.json',
    summary: 'Describes this API.',
    responds: 'An OpenAPI document.',
    response: z.looseObject({ openapi: z.string() }),
    handle: async (_, { version }) => createOpenApiDocument(ROUTES, version),
  }),
];

/** Creates the application: who may come in, the API, and the page. */
export function createApp(
  server: ServerContext,
  access: AccessRules,
  page: PageFiles,
  report: (error: unknown) => void,
): Hono {
  const app = new Hono();
  app.use(async (context, next) => {
    const { raw } = context.req;
    refuseForeign(raw.headers, raw.method, access);
    await next();
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) context.res.headers.set(name, value);
  });
  // The address that was printed: the token goes into a cookie and out of the address.
  app.get('/', async (context, next) => {
    const token = context.req.query('token');
    if (token === undefined) return next();
    if (!isSame(token, access.token)) throw new Problem(401, 'The token is wrong.');
    const cookie = { 'set-cookie': tokenCookie(access.token) };
    // From the file that `serve --open` made: a browser sends no strict cookie with a redirect that another place began.
    if (context.req.header('sec-fetch-site') === 'cross-site')
      return new Response('<!doctype html><meta http-equiv="refresh" content="0;url=/">', {
        headers: { 'content-type': 'text/html; charset=utf-8', ...cookie },
      });
    return new Response(null, { status: 303, headers: { location: '/', ...cookie } });
  });
  app.use(async (context, next) => {
    refuseStranger(context.req.raw.headers, access);
    await next();
  });
  for (const route of ROUTES) {
    const path = `/api${route.path.replace(/\{(\w+)\}/g, ':$1')}`;
    app.on(route.method.toUpperCase(), path, async ({ req }) => {
      const response = await route.handle(req.raw, req.param() as Record<string, string>, server);
      if (!response.headers.has('cache-control')) response.headers.set('cache-control', 'no-store');
      return response;
    });
  }
  app.get('*', async (context, next) => page(context.req.path) ?? next());
  // Scripts accept any type; only a person who opens an address asks for HTML.
  const refuse = (problem: Problem, { raw }: HonoRequest): Response =>
    (raw.headers.get('accept') ?? '').includes('text/html') ? problemPage(problem) : problemResponse(problem);
  app.notFound(({ req }) => refuse(findMissing(req.method, req.path), req));
  app.onError((error, { req }) => withSecurity(refuse(toProblem(error, report), req)));
  return app;
}

function withSecurity(response: Response): Response {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.headers.set(name, value);
  return response;
}

/** There is no such path, or not with this method. */
function findMissing(method: string, path: string): Problem {
  const others = ROUTES.filter((route) => matches(route.path, path)).map((route) => route.method.toUpperCase());
  if (others.length === 0) return new Problem(404, `There is nothing at ${path}.`);
  return new Problem(405, `${method} is not possible there, only ${others.join(' and ')}.`);
}

const matches = (pattern: string, path: string): boolean =>
  new RegExp(`^/api${pattern.replace(/\{\w+\}/g, '[^/]+')}$`).test(path);

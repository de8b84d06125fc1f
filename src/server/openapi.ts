import { z } from 'zod';
import type { Route } from './route.ts';

/** The OpenAPI document of these routes. */
export function createOpenApiDocument(routes: readonly Route[], version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = `/api${route.path}`;
    paths[path] = { ...paths[path], [route.method]: describeOperation(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Raymond',
      version,
      description:
        'Runs, workflows and costs on this machine. The documents are those of `--json` and `--events`: docs/json.md lists their fields.',
    },
    security: [{ token: [] }, { cookie: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        cookie: { type: 'apiKey', in: 'cookie', name: 'raymond' },
      },
      responses: {
        Problem: {
          description: 'What is wrong, and what to do about it.',
          content: { 'application/problem+json': { schema: PROBLEM_SCHEMA } },
        },
      },
    },
  };
}

const PROBLEM_SCHEMA = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    hint: { type: 'string' },
    errors: {
      type: 'array',
      items: { type: 'object', properties: { path: { type: 'string' }, message: { type: 'string' } } },
    },
  },
};

function describeOperation({ path, summary, query, body, form, response }: Route): object {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => {
    return { name, in: 'path', required: true, schema: { type: 'string' } };
  });
  const { status, type, description } = response;
  return {
    summary,
    parameters: [...inPath, ...describeQuery(query)],
    ...(body !== null && { requestBody: { content: describeBody(toSchema(body), form) } }),
    responses: {
      [status]: { description, content: { [type]: {} } },
      default: { $ref: '#/components/responses/Problem' },
    },
  };
}

/** A form has the fields of the data, and files under any names. */
const describeBody = (schema: object, isForm: boolean): object => ({
  'application/json': { schema },
  ...(isForm && {
    'multipart/form-data': {
      schema: { ...schema, additionalProperties: { type: 'string', contentMediaType: 'application/octet-stream' } },
    },
  }),
});

function describeQuery(query: z.ZodType | null): readonly object[] {
  if (query === null) return [];
  const { properties = {} } = toSchema(query) as { properties?: Record<string, { description?: string }> };
  return Object.entries(properties).map(([name, { description, ...schema }]) => {
    return { name, in: 'query', ...(description !== undefined && { description }), schema };
  });
}

const toSchema = (schema: z.ZodType): object => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return rest;
};

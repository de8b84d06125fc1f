import { z } from 'zod';
import { DOCUMENTS } from '../documents/schemas.ts';
import { TIME, TOKENS } from '../documents/shared-schemas.ts';
import type { Route } from './route.ts';

interface OpenApiDocument {
  readonly openapi: string;
  readonly [field: string]: unknown;
}

/** The OpenAPI document of these routes. */
export function createOpenApiDocument(routes: readonly Route[], version: string): OpenApiDocument {
  const schemas = describeDocuments(routes);
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
      schemas,
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        cookie: { type: 'apiKey', in: 'cookie', name: 'raymond' },
      },
      responses: {
        Problem: {
          description: 'What is wrong, and what to do about it.',
          content: { 'application/problem+json': { schema: referTo(DOCUMENTS.Problem) } },
        },
      },
    },
  };
}

/** Documents, and parts of them that are worth a name. */
const NAMED: Readonly<Record<string, z.ZodType>> = { ...DOCUMENTS, Time: TIME, Tokens: TOKENS };

const isPart = (name: string): boolean => ['Problem', 'Step', 'Event', 'Time', 'Tokens'].includes(name);

const uriOf = (name: string): string => `#/components/schemas/${name}`;

/** The schemas of what these routes respond with, by name. Unknown fields are allowed: later versions may add some. */
function describeDocuments(routes: readonly Route[]): object {
  const used = new Set(routes.map(({ response }) => response.schema));
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(NAMED)) if (used.has(schema) || isPart(id)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { uri: uriOf, io: 'input' });
  return Object.fromEntries(Object.entries(schemas).map(([name, { $schema: _, $id: __, ...rest }]) => [name, rest]));
}

function referTo(schema: z.ZodType): object {
  const name = Object.keys(NAMED).find((each) => NAMED[each] === schema);
  return name === undefined ? toSchema(schema) : { $ref: uriOf(name) };
}

function describeOperation({ path, summary, query, body, form, response }: Route): object {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => {
    return { name, in: 'path', required: true, schema: { type: 'string' } };
  });
  const { status, type, description, schema } = response;
  return {
    summary,
    parameters: [...inPath, ...describeQuery(query)],
    ...(body !== null && { requestBody: { content: describeBody(toSchema(body), form) } }),
    responses: {
      [status]: { description, content: { [type]: schema === null ? {} : { schema: referTo(schema) } } },
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

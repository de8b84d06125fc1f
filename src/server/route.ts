import { z } from 'zod';
import type { Emitted } from '../documents/types.ts';
import { hasNul, tryParseJson } from '../language/text/json.ts';
import { Problem, type RequestFault } from './problem.ts';
import type { ServerContext } from './server-context.ts';

/** A request, its parts checked by the schemas of its route. */
interface RouteRequest<Query, Body> {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** The files of a form. */
  readonly files: readonly FormFile[];
  readonly raw: Request;
}

/** One operation of the API. The routes of the server and the OpenAPI document are both made from the table of them. */
export interface Route {
  readonly method: 'get' | 'post' | 'delete';
  /** The path below `/api`, with its parameters in braces: `/runs/{project}/{run}`. */
  readonly path: string;
  readonly summary: string;
  readonly query: z.ZodType | null;
  readonly body: z.ZodType | null;
  /** True if the body may also be a form with files. */
  readonly form: boolean;
  /** The response to a success; the status is 200 unless stated. */
  readonly response: {
    readonly status: number;
    readonly type: string;
    readonly description: string;
    /** The schema of the data; null if it is no JSON. */
    readonly schema: z.ZodType | null;
  };
  readonly handle: (
    request: Request,
    params: Readonly<Record<string, string>>,
    server: ServerContext,
  ) => Promise<Response>;
}

interface RouteSpec<Query extends z.ZodType, Body extends z.ZodType, Document extends z.ZodType>
  extends Pick<Route, 'method' | 'path' | 'summary'> {
  readonly query?: Query;
  readonly body?: Body;
  readonly form?: boolean;
  readonly responds: string;
  readonly status?: number;
  readonly type?: string;
  /** The document that it responds with; left out if that is no JSON. */
  readonly response?: Document;
  /** Makes the document, or a whole response. */
  readonly handle: (
    request: RouteRequest<z.infer<Query>, z.infer<Body>>,
    server: ServerContext,
  ) => Promise<Emitted<Document> | Response>;
}

/** Defines a route whose query and body are checked before it is called. */
export function defineRoute<Query extends z.ZodType, Body extends z.ZodType, Document extends z.ZodType = z.ZodNever>(
  spec: RouteSpec<Query, Body, Document>,
): Route {
  const { method, path, summary, query = null, body = null, form = false, responds, status = 200 } = spec;
  const { type = 'application/json' } = spec;
  return {
    method,
    path,
    summary,
    query,
    body,
    form,
    response: { status, type, description: responds, schema: spec.response ?? null },
    handle: async (raw, params, server) => {
      if (hasNul(params)) throw new Problem(404, 'No name contains a NUL character.');
      const sent = form && isForm(raw) ? await readForm(raw) : null;
      const result = await spec.handle(
        {
          params,
          query: check(query, readQuery(raw), 'query') as z.infer<Query>,
          body: (body === null
            ? undefined
            : check(body, sent?.fields ?? (await readBody(raw)), 'body')) as z.infer<Body>,
          files: sent?.files ?? [],
          raw,
        },
        server,
      );
      return result instanceof Response ? result : jsonResponse(result, status);
    },
  };
}

/** A response with data. */
export const jsonResponse = (data: unknown, status = 200): Response =>
  new Response(`${JSON.stringify(data)}\n`, { status, headers: { 'content-type': 'application/json; charset=utf-8' } });

/** The largest body that is read as JSON. */
export const MAX_BODY_BYTES = 1 << 20;

function readQuery(request: Request): Record<string, string> {
  return Object.fromEntries(new URL(request.url).searchParams);
}

async function readBody(request: Request): Promise<unknown> {
  const type = request.headers.get('content-type') ?? '';
  const text = await readLimited(request);
  if (text.trim() === '') return {};
  if (!/^application\/json\b/i.test(type))
    throw new Problem(415, 'The body must be JSON.', { hint: 'Send `Content-Type: application/json`.' });
  const data = tryParseJson(text);
  if (data === undefined)
    throw new Problem(422, 'body: it is not JSON', { faults: [{ path: 'body', message: 'it is not JSON' }] });
  return data;
}

async function readLimited(request: Request): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) throw new Problem(413, `The body is larger than ${MAX_BODY_BYTES} bytes.`);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem(400, 'The body ended too early.');
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The problem in one place; each unknown key is a place of its own. */
function listFaults(issue: z.core.$ZodIssue, data: unknown, place: string): readonly RequestFault[] {
  const path = [place, ...issue.path].map(String).join('.');
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: `${path}.${key}`, message: 'there is no such field' }));
  const value = issue.path.reduce<unknown>((part, key) => (isObject(part) ? part[key] : undefined), data);
  const message = value === undefined ? 'it is missing' : issue.message.replace(/^Invalid input: /, '');
  return [{ path, message }];
}

const isObject = (value: unknown): value is Record<PropertyKey, unknown> => typeof value === 'object' && value !== null;

/** The data as the schema makes it; refuses data that does not fit, with the path of each mistake. */
function check(schema: z.ZodType | null, data: unknown, place: string): unknown {
  if (hasNul(data)) throw new Problem(422, `${place}: it contains a NUL character`);
  const parsed = (schema ?? z.strictObject({})).safeParse(data);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.flatMap((issue) => listFaults(issue, data, place));
  const [first] = faults;
  throw new Problem(422, `${first?.path ?? place}: ${first?.message ?? 'not valid'}`, { faults });
}

/** A file of a form. */
export interface FormFile {
  readonly name: string;
  readonly mime: string;
  readonly content: Uint8Array;
}

/** The largest form that is read, with all its files. */
const MAX_FORM_BYTES = 64 << 20;

/** True if a request sends a form with files. */
const isForm = (request: Request): boolean =>
  /^multipart\/form-data\b/i.test(request.headers.get('content-type') ?? '');

/** Reads a form: its fields as texts, and its files. It is never larger in memory than the limit. */
async function readForm(
  request: Request,
): Promise<{ readonly fields: Readonly<Record<string, string>>; readonly files: readonly FormFile[] }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > MAX_FORM_BYTES) throw new Problem(413, `The form is larger than ${MAX_FORM_BYTES} bytes.`);
    chunks.push(chunk);
  }
  const type = request.headers.get('content-type') ?? '';
  const form = await new Response(Buffer.concat(chunks), { headers: { 'content-type': type } }).formData().catch(() => {
    throw new Problem(400, 'The form cannot be read.');
  });
  const fields: Record<string, string> = {};
  const files: FormFile[] = [];
  for (const [name, value] of form) {
    if (typeof value === 'string') fields[name] = value;
    else files.push({ name: value.name, mime: value.type, content: new Uint8Array(await value.arrayBuffer()) });
  }
  return { fields, files };
}

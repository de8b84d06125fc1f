import { expect } from 'vitest';
import type { z } from 'zod';
import { DOCUMENTS } from '../../src/documents/schemas.ts';
import { tryParseJson } from '../../src/language/text/json.ts';
import { ROUTES } from '../../src/server/app.ts';

/*
 * Tests of commands, of the API and of MCP tools check everything that these emit: each document has a schema, fits it, and has no
 * field besides.
 */

type DocumentName = keyof typeof DOCUMENTS;

/** Fails unless the data fits the schema and has no unknown field: parsing strips those. */
function expectToFit(schema: z.ZodType, data: unknown, what: string): void {
  const { data: parsed, error } = schema.safeParse(data);
  if (error !== undefined) expect.fail(`${what}: ${error.message}\n${JSON.stringify(data).slice(0, 2_000)}`);
  expect(parsed, `${what} has unknown fields`).toStrictEqual(data);
}

/** Checks a document that is neither printed nor a response: a message of a stream, say. */
export const checkDocument = (name: DocumentName, data: unknown): void =>
  expectToFit(DOCUMENTS[name], data, `the document ${name}`);

const COMMANDS: Readonly<Record<string, DocumentName>> = {
  run: 'Run',
  resume: 'Run',
  status: 'Status',
  list: 'RunList',
  recover: 'RunList',
  asks: 'Questions',
  costs: 'Costs',
  logs: 'Event',
  lint: 'Lint',
  test: 'Tests',
  config: 'Config',
  doctor: 'Doctor',
  prune: 'Prune',
  worktrees: 'Worktrees',
  nodes: 'Nodes',
  say: 'Say',
  diff: 'Diff',
};

/** Checks the JSON that a command has printed, if it was to print any. */
export function checkPrinted(argv: readonly string[], out: string): void {
  const has = (flag: string): boolean => argv.includes(flag);
  if (out === '' || (!has('--json') && !has('--events'))) return;
  const [command = ''] = argv[0] === '-C' ? argv.slice(2) : argv;
  const name = command === 'list' && has('--all') ? 'AllRuns' : (COMMANDS[command] ?? 'Run');
  const isLines = has('--events') || name === 'Event';
  for (const text of isLines ? out.trim().split('\n') : [out])
    expectToFit(DOCUMENTS[isLines ? 'Event' : name], tryParseJson(text), `raymond ${argv.join(' ')}`);
}

const ROUTE_PATTERNS = ROUTES.map(({ method, path, response }) => ({
  method: method.toUpperCase(),
  pattern: new RegExp(`^/api${path.replace(/\{\w+\}/g, '[^/]+')}$`),
  schema: response.schema,
}));

/** Checks the data of a response of the API: the document of its route, or a problem. */
export function checkResponse(method: string, path: string, status: number, body: unknown): void {
  const what = `${method} ${path} (${status})`;
  if (status >= 400) {
    expectToFit(DOCUMENTS.Problem, body, what);
    return;
  }
  const { pathname } = new URL(path, 'http://server');
  const route = ROUTE_PATTERNS.find((each) => each.method === method && each.pattern.test(pathname));
  if (route === undefined) expect.fail(`${what}: there is no such route`);
  // A workflow may be drawn as JSON, too.
  expectToFit(route.schema ?? DOCUMENTS.Mermaid, body, what);
}

const TOOLS: Readonly<Record<string, DocumentName>> = {
  list_workflows: 'McpWorkflows',
  lint: 'McpLint',
  graph: 'Mermaid',
  test: 'McpTests',
  start_run: 'McpStatus',
  run_status: 'McpStatus',
  await_run: 'McpStatus',
  stop_run: 'McpStatus',
  list_runs: 'RunList',
  run_logs: 'McpLog',
  list_questions: 'Questions',
  answer_question: 'Answered',
};

/** Checks the structured answer of an MCP tool. */
export function checkToolAnswer(tool: string, data: unknown): void {
  const name = TOOLS[tool];
  if (name === undefined) expect.fail(`the tool ${tool} has no document`);
  expectToFit(DOCUMENTS[name], data, `the tool ${tool}`);
}

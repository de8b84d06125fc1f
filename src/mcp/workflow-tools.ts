import { execFile } from 'node:child_process';
import { relative, resolve } from 'node:path';
import { z } from 'zod';
import { drawWorkflow } from '../app/workflows/draw-graph.ts';
import { countLevels, lintWorkflow } from '../app/workflows/lint-workflow.ts';
import { readWorkflowSummary } from '../app/workflows/workflow-summary.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { tryParseJson } from '../language/text/json.ts';
import { findFolders } from '../wiring/find-workflows.ts';
import { defineTool, type McpContext, type Tool } from './tool.ts';

const WORKFLOW = z.string().describe('The path of the workflow: a folder, a zip, a .yaml or a state file.');

/** The tools about workflows. */
export const WORKFLOW_TOOLS: readonly Tool[] = [
  defineTool({
    name: 'list_workflows',
    title: 'List workflows',
    description: 'Lists the workflows below the current folder, with what their manifests say.',
    input: {},
    output: { workflows: z.array(z.looseObject({ path: z.string() })) },
    readOnly: true,
    call: async (_, { cwd }) => {
      const { workflows } = await findFolders(cwd);
      return { workflows: await Promise.all(workflows.map((path) => summarize(path, cwd))) };
    },
  }),
  defineTool({
    name: 'lint',
    title: 'Check a workflow',
    description: 'Finds mistakes in a workflow before it costs money. Fix the errors before you start it.',
    input: { workflow: WORKFLOW },
    output: { errors: z.number(), warnings: z.number(), findings: z.array(z.looseObject({ rule: z.string() })) },
    readOnly: true,
    call: async ({ workflow }, { cwd, env }) => {
      const { findings } = await lintWorkflow(workflow, { cwd, env });
      const { error, warning } = countLevels(findings);
      return { errors: error, warnings: warning, findings };
    },
  }),
  defineTool({
    name: 'graph',
    title: 'Draw a workflow',
    description: 'Draws the states of a workflow and their transitions as a Mermaid diagram.',
    input: { workflow: WORKFLOW },
    output: { mermaid: z.string() },
    readOnly: true,
    call: async ({ workflow }, { cwd, env }) => ({
      mermaid: (await drawWorkflow(resolve(cwd, workflow), 'mermaid', { cwd, env })).text,
    }),
  }),
  defineTool({
    name: 'test',
    title: 'Test a workflow',
    description:
      'Runs the scenarios of a workflow with canned answers: no account, no cost. Scripts run for real unless a scenario answers them.',
    input: { workflow: WORKFLOW },
    output: { report: z.unknown(), exit_code: z.number() },
    readOnly: false,
    call: async ({ workflow }, context) => runTests(workflow, context),
  }),
];

async function summarize(path: string, cwd: string): Promise<object> {
  const base = { path: relative(cwd, path) || '.' };
  try {
    const { name, manifest, states } = await readWorkflowSummary(path);
    return { ...base, name, description: manifest.description, input: manifest.input, states: states.length };
  } catch (error) {
    if (error instanceof RaymondError) return { ...base, error: error.message };
    throw error;
  }
}

const TEST_TIMEOUT_MS = 300_000;
const MAX_OUTPUT_BYTES = 16 << 20;

/** As a process of its own: scenarios have time and folders of their own, and may be interrupted. */
function runTests(workflow: string, { command, cwd, env }: McpContext): Promise<Record<string, unknown>> {
  const [program, ...first] = command;
  return new Promise((done, fail) => {
    const options = { cwd, env, timeout: TEST_TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES };
    const child = execFile(program, [...first, 'test', '--json', '--', workflow], options, (error, stdout, stderr) => {
      const report = tryParseJson(stdout);
      if (report !== undefined) done({ report, exit_code: child.exitCode ?? EXIT.bug });
      else fail(new RaymondError(stderr.trim() || String(error), { exitCode: EXIT.usage }));
    });
  });
}

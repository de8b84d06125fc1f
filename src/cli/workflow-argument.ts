import { resolve } from 'node:path';
import { sanitizeLine } from '../render/sanitize.ts';
import type { Terminal } from '../render/terminal/terminal.ts';
import { usageError } from './command.ts';

const URL_START = /^[a-z][a-z0-9+.-]*:\/\//i;

/**
 * The path of the workflow that a person named: a path, or the address of a zip on the web, which is fetched and trusted once.
 */
export async function resolveWorkflowArgument(written: string, terminal: Terminal, yes = false): Promise<string> {
  const { cwd, env, ask, err } = terminal;
  if (!URL_START.test(written)) return resolve(cwd, written);
  const { fetchWorkflow, findFetchedWorkflow, requireWorkflowUrl } = await import(
    '../app/workflows/fetched-workflows.ts'
  );
  const workflow = requireWorkflowUrl(written);
  const known = findFetchedWorkflow(workflow, env);
  if (known !== null) return known;
  if (!yes) {
    const url = sanitizeLine(workflow.url);
    if (ask === undefined)
      throw usageError(`${url} has not been fetched yet`, `To fetch and trust it: raymond trust ${url} --yes`);
    err(`${url} is a workflow that you have not used before. Its scripts run with all your permissions.\n`);
    if (!(await ask('Fetch and trust it?'))) throw usageError(`${url} was not fetched`);
  }
  return fetchWorkflow(workflow, env);
}

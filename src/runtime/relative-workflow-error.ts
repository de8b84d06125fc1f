import { basename, dirname, join, relative } from 'node:path';
import { isStateFile } from '../core/state-names.ts';
import { InvalidWorkflow } from '../workflow/invalid-workflow.ts';

/** What is wrong with a workflow, its files named as one would write them in this folder: an editor can open them. */
export function relativizeWorkflowError(cwd: string, path: string, error: unknown): unknown {
  if (!(error instanceof InvalidWorkflow)) return error;
  const name = relative(cwd, path) || basename(path);
  const folder = isStateFile(path) ? dirname(path) : path;
  const displayPath = (file: string): string => (file === basename(path) ? name : relative(cwd, join(folder, file)));
  return new InvalidWorkflow(
    name,
    error.findings.map((finding) => ({ ...finding, file: displayPath(finding.file) })),
  );
}

import { DEFAULT_OPTIONS } from '../core/options.ts';
import { isStateFile } from '../core/state-names.ts';
import type { Manifest } from '../workflow/manifest.ts';
import { readWorkflowSource } from '../workflow/workflow-source.ts';
import { currentPlatform } from './platform.ts';

/** What a list of workflows shows of one. */
export interface WorkflowSummary {
  readonly name: string;
  readonly manifest: Manifest;
  readonly states: readonly string[];
}

/** Reads the name, the manifest and the states of a workflow, whatever else is wrong with it. */
export async function readWorkflowSummary(path: string): Promise<WorkflowSummary> {
  const { resetStack } = DEFAULT_OPTIONS;
  const { source, manifest } = await readWorkflowSource(path, {
    platform: currentPlatform(),
    resetStack,
    variables: [],
  });
  return { name: source.name, manifest, states: source.files.map(({ file }) => file).filter(isStateFile) };
}

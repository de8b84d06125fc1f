import { DEFAULT_OPTIONS } from '../../core/options/options.ts';
import { isStateFile } from '../../language/state-names.ts';
import { needsPeople } from '../../wiring/manifest-settings.ts';
import type { Manifest } from '../../workflow/manifest.ts';
import { mergeSources, readWorkflowSet } from '../../workflow/workflow-set.ts';
import { readWorkflowSource, type SourceSettings } from '../../workflow/workflow-source.ts';
import { currentPlatform } from './platform.ts';

/** An entry of a list of workflows. */
export interface WorkflowSummary {
  readonly name: string;
  readonly manifest: Manifest;
  readonly states: readonly string[];
  readonly needsPeople: boolean;
}

/** Reads the name, the manifest and the states of a workflow, whatever else is wrong with it. */
export async function readWorkflowSummary(path: string): Promise<WorkflowSummary> {
  const { resetStack } = DEFAULT_OPTIONS;
  const settings = { platform: currentPlatform(), resetStack, variables: [] };
  const { source, manifest } = await readWorkflowSource(path, settings);
  const states = source.files.map(({ file }) => file).filter(isStateFile);
  return { name: source.name, manifest, states, needsPeople: await asksPeople(path, settings, manifest) };
}

/** Workflows that are called are read only if it depends on them. */
async function asksPeople(path: string, settings: SourceSettings, manifest: Manifest): Promise<boolean> {
  if (manifest.requiresHumanInput !== 'auto') return manifest.requiresHumanInput;
  const set = await readWorkflowSet(path, settings);
  return needsPeople({ manifest, source: mergeSources(set), members: () => set.members });
}

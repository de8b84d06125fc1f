import { resolve } from 'node:path';
import { DEFAULT_OPTIONS, mergeOptions, type Options, overlayOptions } from '../../core/options/options.ts';
import { resolveWorkspace } from '../../core/run/workspace.ts';
import {
  type ManifestAndSource,
  manifestOptions,
  requirePeople,
  resolveWorkingDirectory,
} from '../../wiring/manifest-settings.ts';

/** The options of a run, and the folder that its agents work in. */
export interface SettledRun {
  readonly options: Options;
  readonly workFolder: string;
}

/**
 * Settles what a run gets from the manifest and from the user; throws if the two exclude each other. Runs and lint both ask
 * here, so that lint reports what a run refuses.
 */
export function settleRun(
  workflow: ManifestAndSource,
  requested: Partial<Options>,
  cwd: string,
  ignoresWorkingDirectory = false,
): SettledRun {
  const { manifest } = workflow;
  const merged = mergeOptions(DEFAULT_OPTIONS, overlayOptions(manifestOptions(manifest), requested));
  const options = withAbsoluteWorkspace(merged, cwd);
  const workFolder = ignoresWorkingDirectory ? cwd : resolveWorkingDirectory(manifest, options, cwd);
  requirePeople(workflow, options);
  return { options, workFolder };
}

const withAbsoluteWorkspace = (options: Options, cwd: string): Options =>
  options.workspace === null
    ? options
    : { ...options, workspace: resolveWorkspace(options.workspace, (path) => resolve(cwd, path)) };

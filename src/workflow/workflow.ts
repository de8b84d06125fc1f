import { DEFAULT_OPTIONS } from '../core/options.ts';
import type { FileFinding, State } from '../core/state.ts';
import { type Platform, resolveState, type Scope } from '../core/state-names.ts';
import { sourceScope, type WorkflowSource } from '../graph/workflow-source.ts';
import { isErrorFinding } from '../yaml/finding-report.ts';
import { mapConcurrently } from './concurrent.ts';
import { InvalidWorkflow, invalidWorkflowFile } from './invalid-workflow.ts';
import { workflowPathError } from './locate.ts';
import type { Manifest } from './manifest.ts';
import { findStateProblems } from './state-file.ts';
import type { FileContent } from './workflow-files.ts';
import { readScope, readSourceFile, readWorkflowSource } from './workflow-source.ts';

/** A workflow that had no errors when it was opened. Its files may change while it runs. */
export interface Workflow {
  /** The name that its runs get. */
  readonly name: string;
  /** The folder, zip, one-file workflow or state in one of them, absolute. */
  readonly path: string;
  /** The file of the state in which it starts. */
  readonly entry: string;
  readonly platform: Platform;
  /** What it says about itself; it is empty if there is no manifest. */
  readonly manifest: Manifest;
  /** All of it as it was when it was opened, for runs with the usual options. */
  readonly source: WorkflowSource;
  /** The warnings found when it was opened. */
  readonly findings: readonly FileFinding[];
  /** Lists the files that it has now. */
  scope(): Promise<Scope>;
  /** Reads a state as it is now; throws InvalidWorkflow if it can no longer be used. */
  state(file: string): Promise<State>;
  /** Reads all of its files as they are now, states or not, by name. */
  readFiles(): Promise<ReadonlyMap<string, FileContent>>;
  /** The path of a state's own file on disk; null if it is inside a zip or a one-file workflow. */
  pathOf(file: string): string | null;
}

/** Opens a folder, a zip or a state file and checks all of it; throws one error that names everything wrong with it. */
export async function openWorkflow(path: string, platform: Platform): Promise<Workflow> {
  const settings = { platform, resetStack: DEFAULT_OPTIONS.resetStack, variables: [] };
  const { source, location, files, manifest } = await readWorkflowSource(path, settings);
  const { name, entry } = source;
  if (entry.kind !== 'found' && location.state !== null) throw workflowPathError(entry.message);
  const initialScope = sourceScope(source);
  const hasErrors = source.findings?.some(isErrorFinding) ?? false;
  const findings = [
    // Without states the reason for that is enough.
    ...(entry.kind === 'found' || (hasErrors && source.files.length === 0)
      ? []
      : invalidWorkflowFile(files.name, entry.message).findings),
    ...(source.findings ?? []),
    ...source.files.flatMap((file) => findStateProblems(file, initialScope)),
  ];
  if (entry.kind !== 'found' || findings.some(isErrorFinding)) throw new InvalidWorkflow(files.name, findings);
  const readFiles = async (): Promise<ReadonlyMap<string, FileContent>> =>
    new Map(await mapConcurrently(await files.list(), 32, async (file) => [file, await files.read(file)] as const));
  const scope = (): Promise<Scope> => readScope(files, platform);
  const state = async (requested: string): Promise<State> => {
    const currentScope = await scope();
    const resolved = resolveState(requested, currentScope);
    if (resolved.kind !== 'found') throw invalidWorkflowFile(requested, resolved.message);
    const file = await readSourceFile(files, resolved.file, platform);
    const problems = findStateProblems(file, currentScope);
    if (file.kind !== 'state' || problems.some(isErrorFinding)) throw new InvalidWorkflow(requested, problems);
    return file.state;
  };
  return {
    name,
    path: location.path,
    entry: entry.file,
    platform,
    manifest,
    source,
    findings,
    scope,
    state,
    readFiles,
    pathOf: files.pathOf,
  };
}

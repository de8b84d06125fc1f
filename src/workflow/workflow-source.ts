import {
  isNotDocFile,
  type Platform,
  type Resolution,
  resolveEntry,
  resolveState,
  runsOn,
  type Scope,
} from '../core/state-names.ts';
import { WHOLE_FILE } from '../core/text-position.ts';
import type { WorkflowSource, WorkflowSourceFile } from '../graph/workflow-source.ts';
import { mapConcurrently } from './concurrent.ts';
import { InvalidWorkflow } from './invalid-workflow.ts';
import { deriveWorkflowName, locateWorkflow, type WorkflowLocation, workflowPathError } from './locate.ts';
import { parseStateFile } from './state-file.ts';
import { findEntriesInSubfolders, openWorkflowFolder, type WorkflowFiles } from './workflow-files.ts';
import { openWorkflowZip } from './zip.ts';

/** Facts about the runs of a workflow that its files do not tell. */
export type SourceSettings = Pick<WorkflowSource, 'platform' | 'resetStack' | 'variables'>;

/** A workflow that was read, and its files as they are from now on. */
export interface LoadedSource {
  readonly source: WorkflowSource;
  readonly location: WorkflowLocation;
  readonly files: WorkflowFiles;
}

const MAX_CONCURRENT_READS = 32;

/**
 * Reads all of a folder, a zip or a state's workflow, however broken it is: what is wrong with a file is in the source.
 * Throws only if there is nothing to read: a wrong path, a zip that cannot be opened.
 */
export async function readWorkflowSource(path: string, settings: SourceSettings): Promise<LoadedSource> {
  const { platform, resetStack, variables } = settings;
  const location = await locateWorkflow(path);
  const files =
    location.kind === 'zip'
      ? openWorkflowZip(location.path)
      : openWorkflowFolder(location.root, location.kind === 'state' ? 'states and others' : 'workflow');
  const scope = await readScope(files, platform);
  const entry = findEntry(location, scope);
  const source = {
    name: deriveWorkflowName(location),
    platform,
    entry,
    entryGiven: location.kind === 'state',
    ...(entry.kind === 'unknown' &&
      location.kind === 'folder' && { below: findEntriesInSubfolders(location.root, platform) }),
    resetStack,
    variables,
    files: await mapConcurrently(scope.files, MAX_CONCURRENT_READS, (file) => readSourceFile(files, file, platform)),
  };
  return { source, location, files };
}

/** Lists the files that a workflow has now. */
export async function readScope(files: WorkflowFiles, platform: Platform): Promise<Scope> {
  return { files: (await files.list()).filter(isNotDocFile), platform };
}

/** Reads one file of a workflow as it is now. Scripts of the other platform are not read. */
export async function readSourceFile(
  files: WorkflowFiles,
  file: string,
  platform: Platform,
): Promise<WorkflowSourceFile> {
  const problem = files.problemOf(file);
  if (problem !== undefined) return { kind: 'unreadable', file, at: WHOLE_FILE, message: problem };
  if (!runsOn(file, platform)) return { kind: 'other', file };
  try {
    return parseStateFile(file, await files.read(file), platform);
  } catch (error) {
    if (!(error instanceof InvalidWorkflow)) throw error;
    const [finding] = error.findings;
    return { kind: 'unreadable', file, at: WHOLE_FILE, message: finding?.message ?? error.message };
  }
}

/** Finds the state in which a workflow starts: the one that the user named, else the one named START. */
function findEntry(location: WorkflowLocation, scope: Scope): Resolution {
  if (location.kind !== 'state') return resolveEntry(scope);
  if (scope.files.includes(location.file)) return resolveState(location.file, scope);
  throw workflowPathError(
    `${location.path} is not a state: README.md, CLAUDE.md, AGENTS.md and files whose name begins with a dot never are`,
  );
}

import { basename } from 'node:path';
import type { Finding, State } from '../core/state.ts';
import {
  isNotDocFile,
  type Platform,
  type Resolution,
  resolveEntry,
  resolveState,
  runsOn,
  type Scope,
  stem,
} from '../core/state-names.ts';
import { WHOLE_FILE } from '../core/text-position.ts';
import { isErrorFinding, newFindingReport } from '../yaml/finding-report.ts';
import { mapConcurrently } from './concurrent.ts';
import { openWorkflowFolder } from './folder.ts';
import { InvalidWorkflow, invalidWorkflowFile } from './invalid-workflow.ts';
import { locateWorkflow, type WorkflowLocation, workflowPathError } from './locate.ts';
import { readStateFile } from './state-file.ts';
import type { WorkflowFiles } from './workflow-files.ts';
import { openWorkflowZip } from './zip.ts';

/** A workflow that was found sound when it was opened. Its files may change while it runs. */
export interface Workflow {
  /** What its runs are named after. */
  readonly name: string;
  /** The folder, zip or state file, absolute. */
  readonly path: string;
  /** The file of the state in which it starts. */
  readonly entry: string;
  readonly platform: Platform;
  /** The files that it has now. */
  scope(): Promise<Scope>;
  /** A state as its file says it now; throws InvalidWorkflow if it can no longer be used. */
  state(file: string): Promise<State>;
  /** Where a state lies on disk by itself; null if it is inside a zip. */
  pathOf(file: string): string | null;
  /** The warnings found when it was opened. */
  readonly findings: readonly Finding[];
}

const MAX_CONCURRENT_READS = 32;

/** Opens a folder, a zip or a state file and checks all of it; throws one error that names everything wrong with it. */
export async function openWorkflow(path: string, platform: Platform): Promise<Workflow> {
  const location = await locateWorkflow(path);
  const workflowFiles = openWorkflowFiles(location);
  const scope = async (): Promise<Scope> => ({ files: (await workflowFiles.list()).filter(isNotDocFile), platform });
  const initialScope = await scope();
  const entry = resolveWorkflowEntry(location, initialScope);
  const findings = [
    ...findEntryProblems(workflowFiles.name, entry),
    ...(await checkStates(workflowFiles, initialScope)),
  ];
  if (entry.kind !== 'found' || findings.some(isErrorFinding)) throw new InvalidWorkflow(workflowFiles.name, findings);
  return {
    name: deriveWorkflowName(location),
    path: location.path,
    entry: entry.file,
    platform,
    scope,
    pathOf: workflowFiles.pathOf,
    state: async (file) => readState(workflowFiles, file, await scope()),
    findings,
  };
}

/** The files of what the user named. */
export function openWorkflowFiles(location: WorkflowLocation): WorkflowFiles {
  if (location.kind === 'zip') return openWorkflowZip(location.path);
  return openWorkflowFolder(location.kind === 'state' ? location.folder : location.path);
}

/** A run of START.md is better named after its folder: every workflow has a START. */
export function deriveWorkflowName(location: WorkflowLocation): string {
  const file = basename(location.path);
  if (location.kind === 'zip') return file.replace(/\.zip$/i, '') || file;
  if (location.kind === 'folder') return file || 'workflow';
  const name = stem(file);
  return name === 'START' || name === '1_START' ? basename(location.folder) || name : name;
}

function resolveWorkflowEntry(location: WorkflowLocation, scope: Scope): Resolution {
  if (location.kind !== 'state') return resolveEntry(scope);
  const entry = resolveState(location.file, scope);
  if (entry.kind === 'found') return entry;
  const isHidden = location.file.startsWith('.');
  throw workflowPathError(isHidden ? `${location.path} begins with a dot: such files are no states` : entry.message);
}

function findEntryProblems(name: string, entry: Resolution): readonly Finding[] {
  const report = newFindingReport(name);
  if (entry.kind !== 'found') report.error(WHOLE_FILE, entry.message);
  return report.findings;
}

/** Checks every state that can run here; scripts of the other platform are none of ours. */
async function checkStates(workflowFiles: WorkflowFiles, scope: Scope): Promise<readonly Finding[]> {
  const states = scope.files.filter((file) => runsOn(file, scope.platform));
  const stateFiles = await mapConcurrently(states, MAX_CONCURRENT_READS, (file) =>
    readStateFile(workflowFiles, file, scope),
  );
  return stateFiles.flatMap(({ findings }) => findings);
}

async function readState(workflowFiles: WorkflowFiles, file: string, scope: Scope): Promise<State> {
  const resolved = resolveState(file, scope);
  if (resolved.kind !== 'found') throw invalidWorkflowFile(file, resolved.message);
  const { state, findings } = await readStateFile(workflowFiles, resolved.file, scope);
  if (state === null) throw new InvalidWorkflow(file, findings);
  return state;
}

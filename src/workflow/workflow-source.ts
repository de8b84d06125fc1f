import type { WorkflowSource, WorkflowSourceFile } from '../graph/workflow-source.ts';
import {
  isNotDocFile,
  isStateFile,
  type Platform,
  type Resolution,
  resolveEntry,
  resolveState,
  runsOn,
  type Scope,
} from '../language/state-names.ts';
import { WHOLE_FILE } from '../language/text/text.ts';
import { newFindingReport } from '../yaml/finding-report.ts';
import { readYaml } from '../yaml/read-yaml.ts';
import { readYamlScalarText, type YamlValue } from '../yaml/value.ts';
import { InvalidWorkflow } from './invalid-workflow.ts';
import { deriveWorkflowName, locateWorkflow, type WorkflowLocation, workflowPathError } from './locate.ts';
import { EMPTY_MANIFEST, MANIFEST_FILE, type Manifest, type ParsedManifest, readManifest } from './manifest.ts';
import { openOneFile } from './one-file.ts';
import { overlayFiles } from './overlay-files.ts';
import { completeResultSchema } from './result-schema.ts';
import { parseStateFile } from './state-file.ts';
import {
  decodeText,
  findEntriesInSubfolders,
  mapConcurrently,
  openWorkflowFolder,
  type WorkflowFiles,
} from './workflow-files.ts';
import { openWorkflowZip } from './zip.ts';

/** Facts about the runs of a workflow that its files do not tell. */
export type SourceSettings = Pick<WorkflowSource, 'platform' | 'resetStack' | 'variables' | 'isInRepository'>;

/** A workflow that was read, and its files as they are from now on. */
export interface LoadedSource {
  readonly source: WorkflowSource;
  readonly location: WorkflowLocation;
  readonly files: WorkflowFiles;
  readonly manifest: Manifest;
  /** The manifest's content for comparison; empty if there is none. */
  readonly manifestText: string;
}

const MAX_CONCURRENT_READS = 32;

/**
 * Reads all of a folder, a zip, a one-file workflow or a state's workflow, however broken it is: what is wrong with a file is in the source.
 * Throws only if there is nothing to read: a wrong path, a zip that cannot be opened.
 */
export const readWorkflowSource = async (
  path: string,
  settings: SourceSettings,
  overlay: string | null = null,
): Promise<LoadedSource> => readLocatedSource(await locateWorkflow(path), settings, overlay);

/** Reads the workflow at a location. */
export async function readLocatedSource(
  location: WorkflowLocation,
  settings: SourceSettings,
  overlay: string | null = null,
): Promise<LoadedSource> {
  const { platform, resetStack, variables, isInRepository } = settings;
  const files = overlay === null ? openFiles(location) : overlayFiles(openFiles(location), overlay);
  const scope = await readScope(files, platform);
  const entry = findEntry(location, scope);
  const {
    manifest,
    findings,
    text: manifestText = '',
  } = await (files.oneFile ? files.oneFile.readManifest() : readManifestFile(files));
  const source = {
    name: manifest.id ?? deriveWorkflowName(location),
    platform,
    entry,
    entryGiven: location.state !== null,
    ...(entry.kind === 'unknown' &&
      location.kind === 'folder' &&
      location.state === null && { below: findEntriesInSubfolders(location.root, platform) }),
    resetStack,
    variables: [...variables, ...Object.keys(manifest.variables)],
    ...(isInRepository !== undefined && { isInRepository }),
    ...(findings.length > 0 && { findings }),
    ...(scope.anyExtension && { anyExtension: true }),
    files: await mapConcurrently(scope.files, MAX_CONCURRENT_READS, (file) => readSourceFile(files, file, platform)),
  };
  return { source, location, files, manifest, manifestText };
}

function openFiles({ kind, root, state }: WorkflowLocation): WorkflowFiles {
  if (kind === 'zip') return openWorkflowZip(root);
  if (kind === 'yaml') return openOneFile(root);
  return openWorkflowFolder(root, state === null ? 'workflow' : 'states and others');
}

/** Lists the files that a workflow has now. */
export async function readScope(files: WorkflowFiles, platform: Platform): Promise<Scope> {
  const listed = (await files.list()).filter(isNotDocFile);
  return { files: listed, platform, ...(files.oneFile && { anyExtension: true }) };
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
    const source = files.oneFile
      ? await files.oneFile.parseState(file, platform)
      : parseStateFile(file, (await files.read(file)).bytes, platform);
    return source.kind === 'state' ? await completeResultSchema(source, files) : source;
  } catch (error) {
    if (!(error instanceof InvalidWorkflow)) throw error;
    const [finding] = error.findings;
    return { kind: 'unreadable', file, at: WHOLE_FILE, message: finding?.message ?? error.message };
  }
}

/** Finds the state in which a workflow starts: the one that the user named, else the one named START. */
function findEntry(location: WorkflowLocation, scope: Scope): Resolution {
  const { kind, path } = location;
  const state = location.state && spellAsListed(location.state, scope);
  if (state === null) return resolveEntry(scope);
  if (kind !== 'folder' || scope.files.includes(state) || !isStateFile(state)) return resolveState(state, scope);
  throw workflowPathError(
    `${path} is not a state: README.md, CLAUDE.md, AGENTS.md and files whose name begins with a dot never are`,
  );
}

/** A path may name a file in any letter case on Windows; names in tags may not, because a workflow should run everywhere. */
function spellAsListed(state: string, { files, platform }: Scope): string {
  const isSame = (file: string): boolean => file.toLowerCase() === state.toLowerCase();
  return (platform === 'windows' && !files.includes(state) && files.find(isSame)) || state;
}

/** Reads the manifest of a folder or a zip; an empty one if there is none. */
async function readManifestFile(files: WorkflowFiles): Promise<ParsedManifest> {
  if (!(await files.list()).includes(MANIFEST_FILE)) return { manifest: EMPTY_MANIFEST, findings: [] };
  const report = newFindingReport(MANIFEST_FILE);
  const problem = files.problemOf(MANIFEST_FILE);
  if (problem !== undefined) {
    report.error(WHOLE_FILE, problem);
    return { manifest: EMPTY_MANIFEST, findings: report.findings };
  }
  const decoded = decodeText((await files.read(MANIFEST_FILE)).bytes, 'prompt');
  if (decoded.kind === 'not-text') {
    report.error(decoded.at, decoded.message);
    return { manifest: EMPTY_MANIFEST, findings: report.findings };
  }
  const value = readYaml(decoded.text, report);
  const states =
    value?.kind === 'mapping' ? value.pairs.find(([key]) => readYamlScalarText(key) === 'states') : undefined;
  if (states !== undefined) report.error(states[0].at, STATES_MESSAGE);
  return { manifest: readManifest(withoutStates(value), report), findings: report.findings, text: decoded.text };
}

const STATES_MESSAGE =
  '`states` makes this a workflow of its own, beside the state files of this folder: ' +
  `name ${MANIFEST_FILE} itself to run it, or remove the key`;

/** The top level without its states: what is left is the manifest. */
function withoutStates(value: YamlValue | undefined): YamlValue | undefined {
  if (value?.kind !== 'mapping') return value;
  return { ...value, pairs: value.pairs.filter(([key]) => readYamlScalarText(key) !== 'states') };
}

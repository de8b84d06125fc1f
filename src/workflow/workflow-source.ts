import {
  isNotDocFile,
  isPrompt,
  type Platform,
  type Resolution,
  resolveEntry,
  resolveState,
  runsOn,
  type Scope,
} from '../core/state-names.ts';
import { type TextPosition, WHOLE_FILE } from '../core/text-position.ts';
import type { EntryPositions, StateSource, WorkflowSource, WorkflowSourceFile } from '../graph/workflow-source.ts';
import { newFindingReport } from '../yaml/finding-report.ts';
import { readYamlFields, type YamlField, type YamlValue } from '../yaml/value.ts';
import { readPolicyEntry } from './allowed-transitions.ts';
import { mapConcurrently } from './concurrent.ts';
import { decodeText } from './decode-text.ts';
import { findEntriesInSubfolders } from './folder.ts';
import { EMPTY_FRONTMATTER } from './frontmatter-keys.ts';
import { InvalidWorkflow } from './invalid-workflow.ts';
import { locateWorkflow, type WorkflowLocation, workflowPathError } from './locate.ts';
import { parsePromptWithYaml } from './prompt-file.ts';
import { buildState } from './state-file.ts';
import { deriveWorkflowName, openWorkflowFiles } from './workflow.ts';
import type { WorkflowFiles } from './workflow-files.ts';

/** What is known about the runs of a workflow besides its files. */
export type SourceSettings = Pick<WorkflowSource, 'platform' | 'resetStack' | 'variables'>;

/** A sheet and the folder or zip that its files are in. */
export interface OpenedSource {
  readonly source: WorkflowSource;
  readonly root: string;
  readonly isZip: boolean;
}

const MAX_CONCURRENT_READS = 32;

/**
 * Reads all of a folder, a zip or a state's workflow, however broken it is: what is wrong with a file stands in the sheet.
 * Throws only if there is nothing to read: a wrong path, a zip that cannot be opened.
 */
export async function readWorkflowSource(
  path: string,
  { platform, resetStack, variables }: SourceSettings,
): Promise<OpenedSource> {
  const location = await locateWorkflow(path);
  const workflowFiles = openWorkflowFiles(location);
  const scope = { files: (await workflowFiles.list()).filter(isNotDocFile), platform };
  const entry = resolveWorkflowEntry(location, scope);
  const workflowSource = {
    name: deriveWorkflowName(location),
    platform,
    entry,
    entryGiven: location.kind === 'state',
    ...(entry.kind === 'unknown' &&
      location.kind === 'folder' && { below: findEntriesInSubfolders(location.path, platform) }),
    resetStack,
    variables,
    files: await mapConcurrently(scope.files, MAX_CONCURRENT_READS, (file) =>
      readWorkflowFile(workflowFiles, file, platform),
    ),
  };
  return {
    source: workflowSource,
    root: location.kind === 'state' ? location.folder : location.path,
    isZip: location.kind === 'zip',
  };
}

function resolveWorkflowEntry(location: WorkflowLocation, scope: Scope): Resolution {
  if (location.kind !== 'state') return resolveEntry(scope);
  if (scope.files.includes(location.file)) return resolveState(location.file, scope);
  throw workflowPathError(
    `${location.path} is no state: README.md, CLAUDE.md, AGENTS.md and files whose name begins with a dot are not`,
  );
}

async function readWorkflowFile(
  workflowFiles: WorkflowFiles,
  file: string,
  platform: Platform,
): Promise<WorkflowSourceFile> {
  if (!runsOn(file, platform)) return { kind: 'other', file };
  try {
    return parseWorkflowFile(file, await workflowFiles.read(file), platform);
  } catch (error) {
    if (!(error instanceof InvalidWorkflow)) throw error;
    const [finding] = error.findings;
    return { kind: 'unreadable', file, at: WHOLE_FILE, message: finding?.message ?? error.message };
  }
}

/** What the file of a state of this platform holds, read by itself. */
export function parseWorkflowFile(file: string, bytes: Uint8Array, platform: Platform): WorkflowSourceFile {
  const kind = isPrompt(file) ? 'prompt' : 'script';
  const decoded = decodeText(bytes, kind);
  if (decoded.kind === 'not-text') return { kind: 'unreadable', file, at: decoded.at, message: decoded.message };
  const { text } = decoded;
  if (kind === 'script') {
    return {
      kind: 'state',
      file,
      text,
      state: buildState(file, kind, EMPTY_FRONTMATTER, text),
      findings: [],
      entries: [],
      keys: {},
    };
  }
  const { frontmatter, body, findings, yaml } = parsePromptWithYaml(file, text, platform);
  return {
    kind: 'state',
    file,
    text,
    state: buildState(file, kind, frontmatter, body),
    findings,
    ...locateFrontmatter(yaml, platform),
  };
}

/** Where the frontmatter says what. Whatever is wrong with it is in the findings already. */
function locateFrontmatter(yaml: YamlValue | undefined, platform: Platform): Pick<StateSource, 'entries' | 'keys'> {
  if (yaml?.kind !== 'mapping') return { entries: [], keys: {} };
  const fields = readYamlFields(yaml, newFindingReport(''));
  const policy = fields.get('allowed_transitions')?.value;
  return {
    entries: policy?.kind === 'list' ? locatePolicyEntries(policy.items, platform) : [],
    keys: collectPositions(fields),
  };
}

/** An entry that cannot be read is not in the policy either. */
function locatePolicyEntries(items: readonly YamlValue[], platform: Platform): readonly EntryPositions[] {
  return items.flatMap((item) => {
    const parsed = readPolicyEntry(item, newFindingReport(''), platform);
    return parsed === undefined ? [] : [{ at: item.at, keys: collectPositions(parsed.fields) }];
  });
}

const collectPositions = (fields: ReadonlyMap<string, YamlField>): Readonly<Record<string, TextPosition>> =>
  Object.fromEntries([...fields].map(([name, { value }]) => [name, value.at]));

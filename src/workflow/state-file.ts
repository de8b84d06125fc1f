import type { Finding, State } from '../core/state.ts';
import { isPrompt, resolveState, type Scope } from '../core/state-names.ts';
import { comparePositions } from '../core/text-position.ts';
import { isErrorFinding, newFindingReport } from '../yaml/finding-report.ts';
import { decodeText } from './decode-text.ts';
import { EMPTY_FRONTMATTER, type Frontmatter } from './frontmatter-keys.ts';
import { InvalidWorkflow } from './invalid-workflow.ts';
import { parsePrompt } from './prompt-file.ts';
import type { WorkflowFiles } from './workflow-files.ts';

/** One state as its file says it now, and all that its author should know; null if it cannot be used. */
export interface LoadedStateFile {
  readonly state: State | null;
  readonly findings: readonly Finding[];
}

/** Reads a state and checks it against the workflow that it stands in. */
export async function readStateFile(
  workflowFiles: WorkflowFiles,
  file: string,
  scope: Scope,
): Promise<LoadedStateFile> {
  const bytes = await workflowFiles.read(file).catch((error: unknown) => {
    if (error instanceof InvalidWorkflow) return error;
    throw error;
  });
  if (bytes instanceof InvalidWorkflow) return { state: null, findings: bytes.findings };
  const report = newFindingReport(file);
  const kind = isPrompt(file) ? 'prompt' : 'script';
  const decoded = decodeText(bytes, kind);
  if (decoded.kind === 'not-text') {
    report.error(decoded.at, decoded.message);
    return { state: null, findings: report.findings };
  }
  if (kind === 'script') return { state: buildState(file, kind, EMPTY_FRONTMATTER, decoded.text), findings: [] };
  const { frontmatter, body, findings: promptFindings } = parsePrompt(file, decoded.text, scope.platform);
  for (const { key, name, at } of frontmatter.references) {
    const resolved = resolveState(name, scope);
    if (resolved.kind !== 'found') report.error(at, `\`${key}\`: ${resolved.message}`);
  }
  const findings = [...promptFindings, ...report.findings].sort(comparePositions);
  return { state: findings.some(isErrorFinding) ? null : buildState(file, kind, frontmatter, body), findings };
}

/** A state as its file says it. */
export function buildState(file: string, kind: State['kind'], frontmatter: Frontmatter, text: string): State {
  const { policy, maxVisits, references: _, ...settings } = frontmatter;
  return { file, kind, ...settings, rules: { policy, maxVisits }, text };
}

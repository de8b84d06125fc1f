import { isPrompt, resolveState, type Scope } from '../core/names.ts';
import type { Finding, State } from '../core/state.ts';
import { readPrompt } from './frontmatter.ts';
import { InvalidWorkflow } from './invalid.ts';
import { EMPTY, type Frontmatter } from './keys.ts';
import { isError, newReport } from './report.ts';
import type { Source } from './source.ts';
import { decodeText } from './text.ts';

/** One state as its file says it now, and all that its author should know; null if it cannot be used. */
export interface StateFile {
  readonly state: State | null;
  readonly findings: readonly Finding[];
}

/** Reads a state and checks it against the workflow that it stands in. */
export async function readStateFile(source: Source, file: string, scope: Scope): Promise<StateFile> {
  const bytes = await source.read(file).catch((error: unknown) => {
    if (error instanceof InvalidWorkflow) return error;
    throw error;
  });
  if (bytes instanceof InvalidWorkflow) return { state: null, findings: bytes.findings };
  const report = newReport(file);
  const kind = isPrompt(file) ? 'prompt' : 'script';
  const decoded = decodeText(bytes, kind);
  if (decoded.kind === 'not-text') {
    report.error(decoded.at, decoded.message);
    return { state: null, findings: report.findings };
  }
  if (kind === 'script') return { state: stateOf(file, kind, EMPTY, decoded.text), findings: [] };
  const { frontmatter, body, findings: found } = readPrompt(file, decoded.text, scope.platform);
  for (const { key, name, at } of frontmatter.references) {
    const state = resolveState(name, scope);
    if (state.kind !== 'found') report.error(at, `\`${key}\`: ${state.message}`);
  }
  const findings = [...found, ...report.findings].sort((a, b) => a.line - b.line || a.column - b.column);
  return { state: findings.some(isError) ? null : stateOf(file, kind, frontmatter, body), findings };
}

/** A state as its file says it. */
export function stateOf(file: string, kind: State['kind'], frontmatter: Frontmatter, text: string): State {
  const { policy, maxVisits, references: _, ...settings } = frontmatter;
  return { file, kind, ...settings, rules: { policy, maxVisits }, text };
}

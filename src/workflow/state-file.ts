import { namedStates } from '../core/policy.ts';
import type { FileFinding, State } from '../core/state.ts';
import { isPrompt, type Platform, resolveState, type Scope } from '../core/state-names.ts';
import { comparePositions, WHOLE_FILE } from '../core/text-position.ts';
import type { WorkflowSourceFile } from '../graph/workflow-source.ts';
import { newFindingReport } from '../yaml/finding-report.ts';
import { decodeText } from './decode-text.ts';
import { EMPTY_FRONTMATTER, type Frontmatter } from './frontmatter-keys.ts';
import { parsePrompt } from './prompt-file.ts';

/** Reads the content of a state's file, by itself: whether the states exist that it names is not looked at. */
export function parseStateFile(file: string, bytes: Uint8Array, platform: Platform): WorkflowSourceFile {
  const kind = isPrompt(file) ? 'prompt' : 'script';
  const decoded = decodeText(bytes, kind);
  if (decoded.kind === 'not-text') return { kind: 'unreadable', file, at: decoded.at, message: decoded.message };
  const { text } = decoded;
  const { frontmatter, body, keys, findings } =
    kind === 'prompt' ? parsePrompt(file, text, platform) : { ...EMPTY_PROMPT, body: text };
  const { entries } = frontmatter;
  return { kind: 'state', file, text, state: buildState(file, kind, frontmatter, body), findings, entries, keys };
}

const EMPTY_PROMPT = { frontmatter: EMPTY_FRONTMATTER, keys: {}, findings: [] };

function buildState(file: string, kind: State['kind'], frontmatter: Frontmatter, text: string): State {
  const { policy, maxVisits, entries: _, ...settings } = frontmatter;
  return { file, kind, ...settings, rules: { policy, maxVisits }, text };
}

/** Lists everything wrong with a file, by itself and in the workflow that it is part of, in the order of its lines. */
export function findStateProblems(source: WorkflowSourceFile, scope: Scope): readonly FileFinding[] {
  if (source.kind === 'other') return [];
  const report = newFindingReport(source.file);
  if (source.kind === 'unreadable') {
    report.error(source.at, source.message);
    return report.findings;
  }
  for (const [index, entry] of source.state.rules.policy.entries()) {
    for (const [key, name] of namedStates(entry)) {
      const resolved = resolveState(name, scope);
      const at = source.entries[index]?.keys[key] ?? WHOLE_FILE;
      if (resolved.kind !== 'found') report.error(at, `\`${key}\`: ${resolved.message}`);
    }
  }
  return [...source.findings, ...report.findings].sort(comparePositions);
}

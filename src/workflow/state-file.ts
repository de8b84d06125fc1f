import { findEvaluatorProblems } from '../graph/evaluator-problems.ts';
import { findForcedTransitionProblems } from '../graph/forced-transition.ts';
import type { StateSource, WorkflowSourceFile } from '../graph/workflow-source.ts';
import { askValueProblem, openUploadProblem } from '../language/ask.ts';
import { namedStates } from '../language/policy.ts';
import { type FileFinding, isJsonSchema, type State } from '../language/state.ts';
import { isPrompt, type Platform, resolveState, type Scope } from '../language/state-names.ts';
import { comparePositions, type TextPosition, WHOLE_FILE } from '../language/text/text-position.ts';
import { newFindingReport } from '../yaml/finding-report.ts';
import { decodeText } from './decode-text.ts';
import type { Frontmatter } from './frontmatter-keys.ts';
import { buildGuards } from './guard-keys.ts';
import { parsePrompt } from './prompt-file.ts';
import { parseScriptFile } from './script-file.ts';

/** Reads the content of a state's file, by itself: whether the states exist that it names is not looked at. */
export function parseStateFile(file: string, bytes: Uint8Array, platform: Platform): WorkflowSourceFile {
  const kind = isPrompt(file) ? 'prompt' : 'script';
  const decoded = decodeText(bytes, kind);
  if (decoded.kind === 'not-text') return { kind: 'unreadable', file, at: decoded.at, message: decoded.message };
  const { text } = decoded;
  const parse = kind === 'prompt' ? parsePrompt : parseScriptFile;
  const { frontmatter, body, keys, findings } = parse(file, text, platform);
  const state = buildState(file, kind, frontmatter, body);
  return { kind: 'state', file, text, state, findings, keys, ...positionsOf(frontmatter) };
}

/** The parts of a state's frontmatter that are not in the state. */
export const positionsOf = ({
  entries,
  evaluatorPositions,
  writtenSchema,
}: Frontmatter): Pick<StateSource, 'entries' | 'evaluatorPositions' | 'writtenSchema'> => ({
  entries,
  evaluatorPositions,
  ...(writtenSchema !== null && { writtenSchema }),
});

/** Puts a state together from its settings and its text. */
export function buildState(file: string, kind: State['kind'], frontmatter: Frontmatter, text: string): State {
  const { policy, maxVisits, forceImplicit, repeatable, evaluators, writtenSchema } = frontmatter;
  const guards = buildGuards(frontmatter);
  const rules = {
    policy,
    maxVisits,
    ...(forceImplicit && { forceImplicit }),
    ...(repeatable && { repeatable }),
    ...(evaluators.length > 0 && { evaluators }),
    ...(guards !== undefined && { guards }),
    ...(writtenSchema !== null && { checksResult: true }),
  };
  const { model, effort, description, timeoutMs } = frontmatter;
  const { permissionMode, allowedTools, disallowedTools, appendSystemPrompt } = frontmatter;
  const settings = { timeoutMs, permissionMode, allowedTools, disallowedTools, appendSystemPrompt };
  // One that stands in a file is read later.
  const resultSchema = isJsonSchema(writtenSchema?.value) ? { resultSchema: writtenSchema.value } : {};
  return { file, kind, model, effort, ...settings, description, ...resultSchema, rules, text };
}

/** Lists everything wrong with a file, by itself and in the workflow that it is part of, in the order of its lines. */
export function findStateProblems(source: WorkflowSourceFile, scope: Scope): readonly FileFinding[] {
  if (source.kind === 'other') return [];
  const report = newFindingReport((source.kind === 'state' ? source.origin?.file : undefined) ?? source.file);
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
  for (const { at, message } of findQuestionProblems(source)) report.error(at, message);
  for (const [outcome, name] of Object.entries(source.state.rules.guards?.on ?? {})) {
    const resolved = resolveState(name, scope);
    const key = `on.${outcome}`;
    if (resolved.kind !== 'found') report.error(source.keys[key] ?? WHOLE_FILE, `\`${key}\`: ${resolved.message}`);
  }
  const others = [...findForcedTransitionProblems(source), ...findEvaluatorProblems(source, scope)];
  for (const { at, message } of others) report.error(at, message);
  return [...source.findings, ...report.findings].sort(comparePositions);
}

/** Finds the questions that a policy permits and that no answer could ask: what they say about files is refused. */
function findQuestionProblems({
  state,
  entries,
}: StateSource): readonly { readonly at: TextPosition; readonly message: string }[] {
  return state.rules.policy.flatMap(({ tag, attributes }, index) => {
    if (tag !== 'ask') return [];
    const place = entries[index];
    const own = Object.entries(attributes).flatMap(([key, value]) => {
      const message = askValueProblem(key, value);
      return message === undefined ? [] : [{ at: place?.keys[key] ?? WHOLE_FILE, message }];
    });
    const message = own.length > 0 ? undefined : openUploadProblem(attributes);
    return message === undefined ? own : [{ at: place?.at ?? WHOLE_FILE, message }];
  });
}

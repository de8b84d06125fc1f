import { dirname, join, resolve } from 'node:path';
import { EXIT, RaymondError } from '../errors.ts';
import { isPrompt, type Scope } from '../language/state-names.ts';
import { asMapping, valueAtPath, type YamlDocument, type YamlPath } from '../yaml/document.ts';
import {
  type CheckedScenarioFile,
  checkScenarioFile,
  openScenarioFile,
  parseScenarioFile,
  resolveWorkflowPaths,
  type ScenarioFile,
} from './file.ts';
import type { AnswersByState, CannedOutput, Scenario, StateAnswers } from './scenario.ts';
import type { ScenarioContent } from './schema.ts';
import { findStateFile } from './state-names.ts';

/** Reads a file of canned answers for a workflow of these states; throws one error that names everything wrong. */
export const openScenario = (path: string, scope: Scope, name = path): Scenario =>
  buildScenario(openScenarioFile(path, name), scope);

/** Reads the text of a file of canned answers; `name` is used in messages. */
export const readScenario = (name: string, text: string, scope: Scope): Scenario =>
  buildScenario(parseScenarioFile(name, text, dirname(name)), scope);

/** Builds the canned answers of a file; of one with several scenarios, those that they share. */
function buildScenario(file: ScenarioFile, scope: Scope): Scenario {
  const checked = checkAnswersFile(file, scope);
  const { scripts = 'real' } = checked.content;
  const scriptFingerprints = readScriptFingerprints(scope, checked.content);
  return { file: file.name, answers: readAllAnswers(checked, scope), scripts, scriptFingerprints };
}

/** Reads the answers of a file that its scenarios share, and those of the files that it names. */
const readAllAnswers = (file: CheckedScenarioFile, scope: Scope, depth = 0): AnswersByState =>
  mergeAnswers(
    readAnswersFrom(file, file.content.answers_from, scope, depth + 1),
    readAnswers(file, scope, file.content),
  );

/** Checks a file of which only the answers are used: a scenario with a workflow of its own is not checked. */
function checkAnswersFile(file: ScenarioFile, scope: Scope): CheckedScenarioFile {
  const hasOwnWorkflow = (at: number): boolean => file.content?.scenarios?.[at]?.workflow !== undefined;
  return checkScenarioFile(
    file,
    resolveWorkflowPaths(file).map((_, at) => (hasOwnWorkflow(at) ? null : scope)),
  );
}

/** Merges answers by state; those of later sources replace those of earlier ones. */
export const mergeAnswers = (...sources: readonly AnswersByState[]): AnswersByState =>
  new Map(sources.flatMap((answers) => [...answers]));

/** Reads the answers in one block of a file. */
export function readAnswers(
  { name, document }: CheckedScenarioFile,
  scope: Scope,
  { answers }: ScenarioContent,
  path: YamlPath = [],
): AnswersByState {
  const entries = Object.entries(answers ?? {}).flatMap(([key, cases]): [string, StateAnswers][] => {
    const state = findStateFile(scope, key);
    if (state === undefined) return [];
    const at = [...path, 'answers', key];
    const outputs = isPrompt(state) ? [] : readCannedOutputs(document, at);
    return [[state, { file: name, ...document.positionOfKey(at), cases, outputs }]];
  });
  return new Map(entries);
}

/** Reads the fingerprints of scripts in one block of a file. */
export function readScriptFingerprints(
  scope: Scope,
  { recorded_scripts: fingerprints }: ScenarioContent,
): Scenario['scriptFingerprints'] {
  return new Map(
    Object.entries(fingerprints ?? {}).map(([name, fingerprint]) => [findStateFile(scope, name) ?? name, fingerprint]),
  );
}

const MAX_ANSWER_FILES = 20;

/** Reads the answers of another file, if one is named; it may in turn name a third. */
export function readAnswersFrom(
  { name, folder }: CheckedScenarioFile,
  from: string | undefined,
  scope: Scope,
  depth = 1,
): AnswersByState {
  if (from === undefined) return new Map();
  const displayName = join(dirname(name), from);
  if (depth > MAX_ANSWER_FILES) {
    throw new RaymondError(`${name} cannot be used: the files that \`answers_from\` names form a loop`, {
      exitCode: EXIT.invalid,
    });
  }
  return readAllAnswers(checkAnswersFile(openScenarioFile(resolve(folder, from), displayName), scope), scope, depth);
}

/** Collects the texts of all answers at a path, in their order. */
function readCannedOutputs(document: YamlDocument, path: YamlPath): readonly CannedOutput[] {
  const content = valueAtPath(document.value, path);
  if (typeof content === 'string') return [{ ...document.positionOf(path), text: content }];
  const keys = Array.isArray(content)
    ? [...content.keys()]
    : ['text', 'turns', 'visits'].filter((key) => Object.hasOwn(asMapping(content), key));
  return keys.flatMap((key) => readCannedOutputs(document, [...path, key]));
}

import { dirname, join, resolve } from 'node:path';
import { isPrompt, type Scope } from '../core/state-names.ts';
import { EXIT, RaymondError } from '../errors.ts';
import type { YamlDocument } from '../yaml/document.ts';
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

type Path = readonly (string | number)[];

/** Reads the file of a scenario for a workflow of these states; throws one error that names everything wrong with it. */
export const openScenario = (path: string, scope: Scope, name = path): Scenario =>
  buildScenario(openScenarioFile(path, name), scope);

/** Makes a scenario of a file's text; `name` is what messages call the file. */
export const readScenario = (name: string, text: string, scope: Scope): Scenario =>
  buildScenario(parseScenarioFile(name, text, dirname(name)), scope);

/** The canned answers of a file; of one that has several scenarios, those that they have in common. */
function buildScenario(file: ScenarioFile, scope: Scope): Scenario {
  const checked = checkAnswersFile(file, scope);
  const { answers_from: from, scripts = 'real' } = checked.content;
  const answers = mergeAnswers(
    from === undefined ? new Map() : readAnswersFrom(checked, from, scope),
    readAnswers(checked, scope, checked.content),
  );
  return { file: file.name, answers, scripts, scriptFingerprints: readScriptFingerprints(scope, checked.content) };
}

/** Checks a file for whoever wants only its answers: a scenario that names a workflow of its own may be for another. */
function checkAnswersFile(file: ScenarioFile, scope: Scope): CheckedScenarioFile {
  const hasOwnWorkflow = (at: number): boolean => file.content?.scenarios?.[at]?.workflow !== undefined;
  return checkScenarioFile(
    file,
    resolveWorkflowPaths(file).map((_, at) => (hasOwnWorkflow(at) ? null : scope)),
  );
}

/** Answers, some of which are replaced, state by state. */
export const mergeAnswers = (...sources: readonly AnswersByState[]): AnswersByState =>
  new Map(sources.flatMap((answers) => [...answers]));

/** The answers that a scenario of a file has of its own. */
export function readAnswers(
  { name, document }: CheckedScenarioFile,
  scope: Scope,
  { answers }: ScenarioContent,
  path: Path = [],
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

/** The fingerprints of scripts that a scenario of a file has of its own. */
export function readScriptFingerprints(
  scope: Scope,
  { recorded_scripts: fingerprints }: ScenarioContent,
): Scenario['scriptFingerprints'] {
  return new Map(
    Object.entries(fingerprints ?? {}).map(([name, fingerprint]) => [findStateFile(scope, name) ?? name, fingerprint]),
  );
}

const MAX_ANSWER_FILES = 20;

/** The answers of another file, which may take some from a third. */
export function readAnswersFrom(
  { name, folder }: CheckedScenarioFile,
  from: string,
  scope: Scope,
  depth = 1,
): AnswersByState {
  const displayName = join(dirname(name), from);
  if (depth > MAX_ANSWER_FILES) {
    throw new RaymondError(`${name} cannot be used: the files that \`answers_from\` names go round in a circle`, {
      exitCode: EXIT.invalid,
    });
  }
  const checked = checkAnswersFile(openScenarioFile(resolve(folder, from), displayName), scope);
  const nextFrom = checked.content.answers_from;
  const base: AnswersByState =
    nextFrom === undefined ? new Map() : readAnswersFrom(checked, nextFrom, scope, depth + 1);
  return mergeAnswers(base, readAnswers(checked, scope, checked.content));
}

/** The texts of all answers at a place of a file, one after the other. */
function readCannedOutputs(document: YamlDocument, path: Path): readonly CannedOutput[] {
  const content = path.reduce<unknown>((value, step) => (isKeyed(value) ? value[step] : undefined), document.value);
  return collectCannedOutputs(document, path, content);
}

function collectCannedOutputs(document: YamlDocument, path: Path, content: unknown): readonly CannedOutput[] {
  if (typeof content === 'string') return [{ ...document.positionOf(path), text: content }];
  if (Array.isArray(content)) return content.flatMap((each, at) => collectCannedOutputs(document, [...path, at], each));
  if (!isKeyed(content)) return [];
  return ['text', 'turns', 'visits'].flatMap((key) => collectCannedOutputs(document, [...path, key], content[key]));
}

const isKeyed = (value: unknown): value is Readonly<Record<string | number, unknown>> =>
  typeof value === 'object' && value !== null;

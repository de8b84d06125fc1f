import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { EXIT, errorCodeOf, RaymondError } from '../errors.ts';
import { comparePositions } from '../language/text/text-position.ts';
import { asList, asMapping, type DocumentProblem, parseYamlDocument, type YamlDocument } from '../yaml/document.ts';
import { isErrorFinding, newFindingReport } from '../yaml/finding-report.ts';
import { type ParsedScenario, parseScenarioDocument } from './parse-document.ts';
import type { ScenarioFileContent } from './schema.ts';
import { checkStateNames, type ScenarioScopes } from './state-names.ts';

/** A scenario file that is valid YAML, not yet checked against its workflow. */
export interface ScenarioFile extends ParsedScenario {
  /** The name for messages. */
  readonly name: string;
  /** Its folder, which relative paths in it start from. */
  readonly folder: string;
}

/** A scenario file without errors, checked against its workflow. */
export interface CheckedScenarioFile extends ScenarioFile {
  readonly content: ScenarioFileContent;
}

/** Reads a scenario file; throws an error that says why it cannot be read. */
export function openScenarioFile(path: string, name = path): ScenarioFile {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (cause) {
    const missing = errorCodeOf(cause) === 'ENOENT';
    throw new RaymondError(missing ? `there is no ${name}` : `${name} cannot be read (${errorCodeOf(cause)})`, {
      exitCode: EXIT.usage,
      hint: 'It should be a file of canned answers: see docs/replay.md.',
      cause,
    });
  }
  if (!isUtf8(bytes)) throw scenarioFileError(name, [{ line: 1, column: 1, message: 'this is not UTF-8 text' }]);
  return parseScenarioFile(name, bytes.toString('utf8'), dirname(path));
}

/** Parses the text of a scenario file; throws an error that names everything wrong with its YAML. */
export function parseScenarioFile(name: string, text: string, folder: string): ScenarioFile {
  const report = newFindingReport(name);
  const document = parseYamlDocument(text, report);
  if (document === undefined) throw scenarioFileError(name, report.findings.filter(isErrorFinding));
  return { name, folder, ...parseScenarioDocument(document) };
}

/**
 * Resolves the workflow of each scenario in a file: the one that it names, else the one that the file names, else the
 * folder of the file, or the one above if that is called `tests`.
 */
export function resolveWorkflowPaths({ folder, document }: ScenarioFile): readonly string[] {
  const root = asMapping(document.value);
  const scenarios = asList(root.scenarios).map(asMapping);
  return (scenarios.length === 0 ? [root] : scenarios).map((scenario) => {
    const named = [scenario.workflow, root.workflow].find((name) => typeof name === 'string' && name !== '');
    if (typeof named === 'string') return resolve(folder, named);
    return basename(resolve(folder)) === 'tests' ? resolve(folder, '..') : resolve(folder);
  });
}

/** Checks a file by itself and against the states of its workflows; throws one error that names everything wrong. */
export function checkScenarioFile(file: ScenarioFile, scopes: ScenarioScopes): CheckedScenarioFile {
  const { name, document, content } = file;
  const problems = [...file.problems, ...findDuplicateNames(document), ...checkStateNames(document, scopes)];
  if (problems.length > 0 || content === null) throw scenarioFileError(name, problems);
  return { ...file, content };
}

/** Finds scenarios with the name of an earlier one: reports and --filter could not tell them apart. */
function findDuplicateNames(document: YamlDocument): readonly DocumentProblem[] {
  const lineByName = new Map<unknown, number>();
  return asList(asMapping(document.value).scenarios).flatMap((scenario, at) => {
    const { name } = asMapping(scenario);
    const position = document.positionOfKey(['scenarios', at, 'name']);
    const first = lineByName.get(name);
    if (first === undefined) lineByName.set(name, position.line);
    if (first === undefined || name === undefined) return [];
    const message = `the scenario on line ${first} is called \`${name}\` already: give each its own name`;
    return [{ ...position, message }];
  });
}

/** Makes an error that names everything wrong with a file. */
export function scenarioFileError(name: string, problems: readonly DocumentProblem[]): RaymondError {
  const count = problems.length === 1 ? '1 error' : `${problems.length} errors`;
  const lines = problems
    .toSorted(comparePositions)
    .map(({ line, column, message }) => `${name}:${line}:${column}: ${message}`);
  return new RaymondError(`${name} cannot be used: ${count}\n${lines.join('\n')}`, { exitCode: EXIT.invalid });
}

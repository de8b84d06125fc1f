import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { comparePositions } from '../core/text-position.ts';
import { EXIT, errorCodeOf, RaymondError } from '../errors.ts';
import { asList, asMapping, type DocumentProblem, parseYamlDocument, type YamlDocument } from '../yaml/document.ts';
import { isErrorFinding, newFindingReport } from '../yaml/finding-report.ts';
import { type ParsedScenario, parseScenarioDocument } from './parse-document.ts';
import type { ScenarioFileContent } from './schema.ts';
import { checkStateNames, type ScenarioScopes } from './state-names.ts';

/** A scenario file that is YAML; whether it makes sense depends on its workflow, too. */
export interface ScenarioFile extends ParsedScenario {
  /** What messages call it. */
  readonly name: string;
  /** Where it lies; relative names in it are seen from there. */
  readonly folder: string;
}

/** A scenario file that makes sense for its workflow. */
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

/** Makes a scenario file of its text. */
export function parseScenarioFile(name: string, text: string, folder: string): ScenarioFile {
  const report = newFindingReport(name);
  const document = parseYamlDocument(text, report);
  if (document === undefined) throw scenarioFileError(name, report.findings.filter(isErrorFinding));
  return { name, folder, ...parseScenarioDocument(document) };
}

/**
 * The workflow of each scenario in a file: what it names, else what the file names, else the folder that the file lies in;
 * in a folder `tests`, the one above.
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

/** Checks a file, against itself and against the states of its workflows; throws one error that names everything wrong. */
export function checkScenarioFile(file: ScenarioFile, scopes: ScenarioScopes): CheckedScenarioFile {
  const { name, document, content } = file;
  const problems = [...file.problems, ...findDuplicateNames(document), ...checkStateNames(document, scopes)];
  if (problems.length > 0 || content === null) throw scenarioFileError(name, problems);
  return { ...file, content };
}

/** Scenarios that go by the name of one before them: a verdict, or --filter, would not tell which is meant. */
function findDuplicateNames(document: YamlDocument): readonly DocumentProblem[] {
  const lineByName = new Map<unknown, number>();
  return asList(asMapping(document.value).scenarios).flatMap((scenario, at) => {
    const { name } = asMapping(scenario);
    const position = document.positionOfKey(['scenarios', at, 'name']);
    const first = lineByName.get(name);
    if (first === undefined) lineByName.set(name, position.line);
    if (first === undefined || name === undefined) return [];
    const message = `a scenario is called \`${name}\` already, on line ${first}: give each a name of its own`;
    return [{ ...position, message }];
  });
}

/** An error that names everything wrong with a file. */
export function scenarioFileError(name: string, problems: readonly DocumentProblem[]): RaymondError {
  const count = problems.length === 1 ? '1 error' : `${problems.length} errors`;
  const lines = problems
    .toSorted(comparePositions)
    .map(({ line, column, message }) => `${name}:${line}:${column}: ${message}`);
  return new RaymondError(`${name} cannot be used: ${count}\n${lines.join('\n')}`, { exitCode: EXIT.invalid });
}

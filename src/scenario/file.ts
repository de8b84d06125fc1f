import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import type { z } from 'zod';
import { EXIT, errorCodeOf, RaymondError } from '../errors.ts';
import { didYouMean } from '../language/text/nearest.ts';
import { comparePositions } from '../language/text/text.ts';
import {
  asList,
  asMapping,
  type DocumentProblem,
  parseYamlDocument,
  valueAtPath,
  type YamlDocument,
  type YamlPath,
} from '../yaml/document.ts';
import { isErrorFinding, newFindingReport, quoteInMessage } from '../yaml/finding-report.ts';
import { EXPECTED_TEXT } from './answer-schema.ts';
import { type ScenarioFileContent, scenarioFileSchema, scenarioKeysAt } from './schema.ts';
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

type Issue = z.core.$ZodIssue;

/** The content of a scenario file, checked without its workflow; the content is null if there are problems. */
interface ParsedScenario {
  readonly document: YamlDocument;
  readonly content: ScenarioFileContent | null;
  readonly problems: readonly DocumentProblem[];
}

/** Reads a document as a scenario file. Where a text is expected, `5`, `1.50` and `true` are read as texts. */
function parseScenarioDocument(document: YamlDocument): ParsedScenario {
  const parsed = scenarioFileSchema.safeParse(document.value);
  if (parsed.success) return { document, content: parsed.data, problems: [] };
  const paths = findExpectedTexts(parsed.error.issues).filter((path) =>
    isNumberOrBoolean(valueAtPath(document.value, path)),
  );
  if (paths.length > 0) return parseScenarioDocument(replaceWithTexts(paths, document));
  return { document, content: null, problems: describeIssues(parsed.error.issues, document) };
}

/** Lists the paths where a text is expected and something else was found. */
function findExpectedTexts(issues: readonly Issue[], parentPath: YamlPath = []): readonly YamlPath[] {
  return issues.flatMap((issue) => {
    const path = [...parentPath, ...issue.path];
    const inner =
      issue.code === 'invalid_union' ? issue.errors.flatMap((branch) => findExpectedTexts(branch, path)) : [];
    return issue.message === EXPECTED_TEXT ? [path, ...inner] : inner;
  });
}

const isNumberOrBoolean = (value: unknown): boolean => typeof value === 'number' || typeof value === 'boolean';

function replaceWithTexts(paths: readonly YamlPath[], document: YamlDocument): YamlDocument {
  const value = structuredClone(document.value);
  for (const path of paths) {
    const parent = valueAtPath(value, path.slice(0, -1)) as Record<PropertyKey, unknown>;
    const last = path.at(-1) ?? '';
    parent[last] = document.sourceAt(path) ?? String(parent[last]);
  }
  return { ...document, value };
}

/** Turns the issues of zod into problems: sentences with positions. */
function describeIssues(
  issues: readonly Issue[],
  document: YamlDocument,
  parentPath: YamlPath = [],
): readonly DocumentProblem[] {
  // While a key is misspelled, checks of the whole mapping would only report what follows from it.
  const misspelledPaths = issues.flatMap(({ code, path }) =>
    code === 'unrecognized_keys' ? [JSON.stringify(path)] : [],
  );
  return issues
    .filter(({ code, path }) => code !== 'custom' || !misspelledPaths.includes(JSON.stringify(path)))
    .flatMap((issue) => describeIssue(issue, document, parentPath));
}

function describeIssue(issue: Issue, document: YamlDocument, parentPath: YamlPath): readonly DocumentProblem[] {
  const path = [...parentPath, ...issue.path];
  const value = valueAtPath(document.value, path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => {
        const known = scenarioKeysAt(path);
        const suggestion = didYouMean(key, known) || (known.length === 0 ? '' : `: known are ${known.join(', ')}`);
        return { ...document.positionOfKey([...path, key]), message: `the key \`${key}\` is unknown${suggestion}` };
      });
    case 'invalid_union': {
      const matchingBranch = issue.errors.find((branch) => !branch.some(isTypeMismatch));
      if (matchingBranch !== undefined) return describeIssues(matchingBranch, document, path);
      break;
    }
    case 'invalid_value': {
      const names = issue.values.map(String);
      if (typeof value !== 'string' || names.length === 1) break;
      return [
        {
          ...document.positionOf(path),
          message: `${describePath(path)} cannot be \`${value}\`${didYouMean(value, names) || `: it is one of ${names.join(', ')}`}`,
        },
      ];
    }
    case 'custom': {
      const position = issue.params?.key === true ? document.positionOfKey(path) : document.positionOf(path);
      return [{ ...position, message: issue.message }];
    }
  }
  if (path.length === 0 && (value === null || value === undefined)) {
    return [{ ...document.positionOf(path), message: `this file is empty: it must be ${issue.message}` }];
  }
  return [
    {
      ...document.positionOf(path),
      message: `${describePath(path)} must be ${issue.message}, not ${describeValue(value)}`,
    },
  ];
}

/** True if the value is of another type than this branch of a union: then the branch was not meant. */
function isTypeMismatch({ code, path, ...issue }: Issue): boolean {
  if (path.length > 0) return false;
  return code === 'invalid_type' || ('errors' in issue && issue.errors.every((branch) => branch.some(isTypeMismatch)));
}

function describePath(path: YamlPath): string {
  const last = path.at(-1);
  if (last === undefined) return 'this file';
  const key = path.findLast((step) => typeof step === 'string');
  return typeof last === 'number' ? `entry ${last + 1} of \`${String(key)}\`` : `\`${String(last)}\``;
}

function describeValue(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object') return 'a mapping';
  const quoted = quoteInMessage(String(value).replace(/\s+/g, ' '));
  return typeof value === 'string' ? `the text ${quoted}` : quoted;
}

import { existsSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { EXIT, errorCodeOf, RaymondError } from '../errors.ts';
import { type Recording, recordRun } from '../runtime/record-run.ts';
import { parseScenarioFile } from '../scenario/file.ts';
import { formatYamlDocument } from '../yaml/document.ts';
import { TEST_RUN_ID } from './run-scenario.ts';
import { runTests, type TestResult } from './run-tests.ts';
import { readTestCases } from './suite.ts';

/** What becomes of a run that is recorded, and where. */
export interface RecordScenarioRequest {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly realScripts: boolean;
  /** The file; undefined for one beside the workflow, `-` for none. */
  readonly output: string | undefined;
  readonly timeoutMs: number;
  readonly abortSignal: AbortSignal;
}

/** A recording, and what came of playing it at once. */
export interface RecordedScenario extends Recording {
  /** Where it was written; null if it was not. */
  readonly file: string | null;
  readonly text: string;
  readonly testResult: TestResult | undefined;
}

/** Makes a scenario file of a run, and plays it to see whether it goes as the run went. */
export async function recordScenario(runName: string, request: RecordScenarioRequest): Promise<RecordedScenario> {
  const { cwd, env, realScripts, output, timeoutMs, abortSignal } = request;
  const recording = await recordRun(runName, { cwd, env, realScripts, replayRunId: TEST_RUN_ID });
  const { run, scenario } = recording;
  const { path } = run.workflow;
  const workflowFolder = isFolder(path) ? path : dirname(path);
  const target = output === '-' ? null : resolve(cwd, output ?? join(workflowFolder, `${run.id}.test.yaml`));
  const folder = target === null ? cwd : dirname(target);
  const text = formatYamlDocument(
    { name: scenario.name, ...workflowKey(path, folder), ...scenario },
    formatSchemaLine(folder) + HEADER_COMMENT,
  );
  const name = target === null ? 'the recording' : relative(cwd, target);
  if (target !== null) writeNewFile(target, name, text);
  const testCases = await readTestCases(parseScenarioFile(name, text, folder), cwd);
  let testResult: TestResult | undefined;
  for await (const each of runTests(testCases, { env, timeoutMs, keep: false, abortSignal })) testResult = each;
  return { ...recording, file: target === null ? null : name, text, testResult };
}

const HEADER_COMMENT = `Recorded with \`raymond test --record\`; docs/testing.md explains the format. What looked like a key was masked, and
paths of the machine were replaced: look it over before you show it to others.`;

/** Where the schema lies that `raymond init` puts beside scenarios, editors are told of it. */
function formatSchemaLine(folder: string): string {
  const schema = ['./', '../'].find((prefix) => existsSync(join(folder, prefix, SCHEMA_FILE)));
  return schema === undefined ? '' : `yaml-language-server: $schema=${schema}${SCHEMA_FILE}\n`;
}

const SCHEMA_FILE = 'scenario.schema.json';

/** The workflow has to be named, unless it is where it would be looked for anyway. */
function workflowKey(path: string, folder: string): { readonly workflow?: string } {
  const defaultWorkflow = basename(folder) === 'tests' ? dirname(folder) : folder;
  if (defaultWorkflow === path) return {};
  return { workflow: relative(folder, path) };
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

function writeNewFile(target: string, name: string, text: string): void {
  try {
    writeFileSync(target, text, { flag: 'wx' });
  } catch (cause) {
    const exists = existsSync(target);
    throw new RaymondError(exists ? `${name} is there already` : `${name} cannot be written (${errorCodeOf(cause)})`, {
      exitCode: EXIT.usage,
      hint: `${exists ? 'It was left as it is. ' : ''}Name another file with --output.`,
      cause,
    });
  }
}

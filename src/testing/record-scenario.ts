import { existsSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { type Recording, recordRun } from '../app/record-run.ts';
import { EXIT, errorCodeOf, RaymondError } from '../errors.ts';
import { parseScenarioFile } from '../scenario/file.ts';
import type { RunStorage } from '../storage/storage.ts';
import { formatYamlDocument } from '../yaml/document.ts';
import { TEST_RUN_ID } from './run-scenario.ts';
import { runTests, type TestResult } from './run-tests.ts';
import { createWorkflowOpener, readTestCases } from './suite.ts';

/** How a run is made into a scenario file. */
export interface RecordScenarioRequest {
  readonly cwd: string;
  readonly storage: RunStorage;
  readonly env: NodeJS.ProcessEnv;
  readonly realScripts: boolean;
  /** The file to write; undefined for one beside the workflow, `-` for none. */
  readonly output: string | undefined;
  readonly timeoutMs: number;
  readonly abortSignal: AbortSignal;
}

/** A recorded scenario, and the result of running it at once. */
export interface RecordedScenario extends Recording {
  /** The file it was written to; null if it was not written. */
  readonly file: string | null;
  readonly text: string;
  readonly testResult: TestResult | undefined;
}

/** Makes a scenario file of a run and runs it, to see whether it goes as the run did. */
export async function recordScenario(runName: string, request: RecordScenarioRequest): Promise<RecordedScenario> {
  const { cwd, storage, env, realScripts, output, timeoutMs, abortSignal } = request;
  const recording = await recordRun(runName, { cwd, storage, env, realScripts, replayRunId: TEST_RUN_ID });
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
  const openFrozen = createWorkflowOpener(run.options.root);
  const testCases = await readTestCases(parseScenarioFile(name, text, folder), cwd, openFrozen);
  let testResult: TestResult | undefined;
  for await (const each of runTests(testCases, { env, timeoutMs, keep: false, abortSignal })) testResult = each;
  return { ...recording, file: target === null ? null : name, text, testResult };
}

const HEADER_COMMENT = `Recorded with \`raymond test --record\`; docs/testing.md explains the format. What looked like a key was masked, and
paths of the machine were replaced: look it over before you show it to others.`;

/** The comment that tells editors of the schema which `raymond init` writes; empty where there is none. */
function formatSchemaLine(folder: string): string {
  const schema = ['./', '../'].find((prefix) => existsSync(join(folder, prefix, SCHEMA_FILE)));
  return schema === undefined ? '' : `yaml-language-server: $schema=${schema}${SCHEMA_FILE}\n`;
}

const SCHEMA_FILE = 'scenario.schema.json';

/** The scenario names its workflow, unless that is where Raymond looks for it anyway. */
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
    throw new RaymondError(exists ? `${name} already exists` : `${name} cannot be written (${errorCodeOf(cause)})`, {
      exitCode: EXIT.usage,
      hint: `${exists ? 'It was left as it is. ' : ''}Name another file with --output.`,
      cause,
    });
  }
}

import { existsSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { codeOf, EXIT, RaymondError } from '../errors.ts';
import { type Recording, recordRun } from '../raymond/record.ts';
import { readFile } from '../scenario/file.ts';
import { scenarioText } from '../scenario/write.ts';
import { rehearseAll, type Verdict } from './all.ts';
import { RUN_ID } from './rehearse.ts';
import { piecesIn } from './repertoire.ts';

/** What becomes of a run that is recorded, and where. */
export interface RecordingRequest {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly realScripts: boolean;
  /** The file; undefined for one beside the workflow, `-` for none. */
  readonly output: string | undefined;
  readonly timeoutMs: number;
  readonly enough: AbortSignal;
}

/** A recording, and what came of playing it at once. */
export interface Recorded extends Recording {
  /** Where it was written; null if it was not. */
  readonly file: string | null;
  readonly text: string;
  readonly verdict: Verdict | undefined;
}

/** Makes a scenario file of a run, and plays it to see whether it goes as the run went. */
export async function record(wanted: string, request: RecordingRequest): Promise<Recorded> {
  const { cwd, env, realScripts, output, timeoutMs, enough } = request;
  const recording = await recordRun(wanted, { cwd, env, realScripts, playedAs: RUN_ID });
  const { run, scenario } = recording;
  const { path } = run.workflow;
  const beside = isFolder(path) ? path : dirname(path);
  const target = output === '-' ? null : resolve(cwd, output ?? join(beside, `${run.id}.test.yaml`));
  const folder = target === null ? cwd : dirname(target);
  const text = scenarioText(
    { name: scenario.name, ...workflowKey(path, folder), ...scenario },
    schemaLine(folder) + COMMENT,
  );
  const name = target === null ? 'the recording' : relative(cwd, target);
  if (target !== null) writeNew(target, name, text);
  const pieces = await piecesIn(readFile(name, text, folder), cwd);
  let verdict: Verdict | undefined;
  for await (const each of rehearseAll(pieces, { env, timeoutMs, keep: false, enough })) verdict = each;
  return { ...recording, file: target === null ? null : name, text, verdict };
}

const COMMENT = `Recorded with \`raymond test --record\`; docs/testing.md explains the format. What looked like a key was masked, and
paths of the machine were replaced: look it over before you show it to others.`;

/** Where the schema lies that `raymond init` puts beside scenarios, editors are told of it. */
function schemaLine(folder: string): string {
  const schema = ['./', '../'].find((way) => existsSync(join(folder, way, SCHEMA)));
  return schema === undefined ? '' : `yaml-language-server: $schema=${schema}${SCHEMA}\n`;
}

const SCHEMA = 'scenario.schema.json';

/** The workflow has to be named, unless it is where it would be looked for anyway. */
function workflowKey(path: string, folder: string): { readonly workflow?: string } {
  const usual = basename(folder) === 'tests' ? dirname(folder) : folder;
  if (usual === path) return {};
  return { workflow: relative(folder, path) };
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

function writeNew(target: string, name: string, text: string): void {
  try {
    writeFileSync(target, text, { flag: 'wx' });
  } catch (cause) {
    const isThere = existsSync(target);
    throw new RaymondError(isThere ? `${name} is there already` : `${name} cannot be written (${codeOf(cause)})`, {
      exitCode: EXIT.usage,
      hint: `${isThere ? 'It was left as it is. ' : ''}Name another file with --output.`,
      cause,
    });
  }
}

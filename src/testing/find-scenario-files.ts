import { type Dirent, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { EXIT, errorCodeOf, RaymondError } from '../errors.ts';
import { isStateFile } from '../language/state-names.ts';
import { openScenarioFile, resolveWorkflowPaths } from '../scenario/file.ts';

const SCENARIO_FILE_NAME = /\.test\.ya?ml$/;

/** The scenario files that some paths stand for. */
export interface FoundScenarioFiles {
  /** Each file once, relative to the working directory. */
  readonly files: readonly string[];
  /** The folders and zips among the paths that have no scenarios. */
  readonly withoutScenarios: readonly string[];
}

/**
 * Finds the scenario files for some paths: a scenario file itself, all in a folder, and those beside a zip or a state
 * file that are for it. Of several paths, such as `workflows/*`, some may have none.
 */
export function findScenarioFiles(paths: readonly string[], cwd: string): FoundScenarioFiles {
  const found = paths.map((path) => ({ path, files: findForPath(path, cwd) }));
  const files = new Map(found.flatMap((each) => each.files).map((file) => [resolve(cwd, file), file]));
  if (files.size === 0) throw noScenariosError(paths, cwd);
  const withoutScenarios = found.filter((each) => each.files.length === 0 && canHaveScenarios(resolve(cwd, each.path)));
  return { files: [...files.values()], withoutScenarios: withoutScenarios.map(({ path }) => path) };
}

const isFolder = (absolutePath: string): boolean => statSync(absolutePath).isDirectory();
const isZip = (path: string): boolean => /\.zip$/i.test(path);

/** A state file is not missed here: scenarios are mostly for the whole workflow that it belongs to. */
const canHaveScenarios = (absolutePath: string): boolean => isFolder(absolutePath) || isZip(absolutePath);

function findForPath(path: string, cwd: string): readonly string[] {
  const absolutePath = resolve(cwd, path);
  if (statSync(absolutePath, { throwIfNoEntry: false }) === undefined)
    throw usageError(`there is no ${path}`, 'Name a scenario file, or a folder to look for some in.');
  if (isFolder(absolutePath)) return [...walkScenarioFiles(absolutePath, path === '.' ? '' : path)];
  if (/\.ya?ml$/.test(path)) {
    // It is a scenario file, or a one-file workflow with scenario files beside it.
    const beside = findBeside(path, absolutePath);
    return beside.length > 0 ? beside : [path];
  }
  return isZip(path) || isStateFile(path) ? findBeside(path, absolutePath) : [];
}

/** The scenario files beside a zip, a one-file workflow or a state file that name it as their workflow. */
function findBeside(path: string, absolutePath: string): readonly string[] {
  const folders = [
    [dirname(absolutePath), dirname(path)],
    [join(dirname(absolutePath), 'tests'), join(dirname(path), 'tests')],
  ] as const;
  return folders.flatMap(([folder, displayPath]) => {
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
    const files = filterScenarioNames(listFolder(folder, displayPath));
    return files
      .filter((name) => isForWorkflow(absolutePath, join(folder, name)))
      .map((name) => join(displayPath, name));
  });
}

function isForWorkflow(workflow: string, file: string): boolean {
  try {
    return resolveWorkflowPaths(openScenarioFile(file)).includes(workflow);
  } catch (error) {
    if (error instanceof RaymondError) return false;
    throw error;
  }
}

function noScenariosError(paths: readonly string[], cwd: string): RaymondError {
  const [only = '.'] = paths;
  const absolutePath = resolve(cwd, only);
  if (paths.length === 1 && !isFolder(absolutePath)) {
    const isWorkflow = isZip(only) || isStateFile(only);
    return usageError(
      isWorkflow ? `there are no scenarios for ${only}` : `${only} is not a scenario file`,
      'Such a file ends in .test.yaml; name one, or the folder of a workflow.',
    );
  }
  return usageError(
    `there are no scenarios in ${paths.length > 1 ? 'any of these paths' : only === '.' ? 'this folder' : only}`,
    'A scenario is a file NAME.test.yaml beside the states of a workflow, or in a folder tests/ there: see docs/testing.md.',
  );
}

/** Hidden folders, packages and links are passed over; a link may lead round in a circle. */
const isSearched = (entry: Dirent): boolean =>
  entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules';

const filterScenarioNames = (entries: readonly Dirent[]): readonly string[] =>
  entries.filter((entry) => !entry.isDirectory() && SCENARIO_FILE_NAME.test(entry.name)).map(({ name }) => name);

function* walkScenarioFiles(folder: string, displayPath: string): Generator<string> {
  const entries = listFolder(folder, displayPath);
  for (const name of filterScenarioNames(entries)) yield join(displayPath, name);
  for (const { name } of entries.filter(isSearched))
    yield* walkScenarioFiles(join(folder, name), join(displayPath, name));
}

function listFolder(folder: string, displayPath: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch (cause) {
    throw usageError(
      `${displayPath === '' ? 'this folder' : displayPath} cannot be read (${errorCodeOf(cause)})`,
      'Name another path.',
    );
  }
}

const usageError = (message: string, hint: string): RaymondError =>
  new RaymondError(message, { exitCode: EXIT.usage, hint });

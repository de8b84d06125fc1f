import { type Dirent, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isStateFile } from '../core/names.ts';
import { codeOf, EXIT, RaymondError } from '../errors.ts';
import { openFile, workflowsOf } from '../scenario/file.ts';

const SCENARIOS = /\.test\.ya?ml$/;

/** What some paths come to. */
export interface Found {
  /** Scenario files, each once, as one would write them here. */
  readonly files: readonly string[];
  /** The folders and zips among the paths that have none. */
  readonly bare: readonly string[];
}

/**
 * The scenario files that these paths mean: files, whatever lies in folders, and what is for a zip or a state file. Of
 * several paths, as `workflows/*` gives them, some may mean none.
 */
export function findFiles(paths: readonly string[], cwd: string): Found {
  const found = paths.map((path) => ({ path, files: filesFor(path, cwd) }));
  const files = new Map(found.flatMap((each) => each.files).map((file) => [resolve(cwd, file), file]));
  if (files.size === 0) throw nothingIn(paths, cwd);
  const bare = found.filter((each) => each.files.length === 0 && mayHaveSome(resolve(cwd, each.path)));
  return { files: [...files.values()], bare: bare.map(({ path }) => path) };
}

const isFolder = (whole: string): boolean => statSync(whole).isDirectory();
const isZip = (path: string): boolean => /\.zip$/i.test(path);

/** A state file may belong to a workflow whose scenarios are for all of it. */
const mayHaveSome = (whole: string): boolean => isFolder(whole) || isZip(whole);

function filesFor(path: string, cwd: string): readonly string[] {
  const whole = resolve(cwd, path);
  if (statSync(whole, { throwIfNoEntry: false }) === undefined)
    throw wrong(`there is no ${path}`, 'Name a scenario file, or a folder to look for some in.');
  if (isFolder(whole)) return [...filesIn(whole, path === '.' ? '' : path)];
  if (/\.ya?ml$/.test(path)) return [path];
  return isZip(path) || isStateFile(path) ? filesBeside(path, whole) : [];
}

/** Those that lie beside a zip or a state file, where its scenarios would be, and say that they are for it. */
function filesBeside(path: string, whole: string): readonly string[] {
  const places = [
    [dirname(whole), dirname(path)],
    [join(dirname(whole), 'tests'), join(dirname(path), 'tests')],
  ] as const;
  return places.flatMap(([folder, shown]) => {
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
    const files = scenariosAmong(list(folder, shown));
    return files.filter((name) => isFor(whole, join(folder, name))).map((name) => join(shown, name));
  });
}

function isFor(workflow: string, file: string): boolean {
  try {
    return workflowsOf(openFile(file)).includes(workflow);
  } catch (error) {
    if (error instanceof RaymondError) return false;
    throw error;
  }
}

function nothingIn(paths: readonly string[], cwd: string): RaymondError {
  const [only = '.'] = paths;
  const whole = resolve(cwd, only);
  if (paths.length === 1 && !isFolder(whole)) {
    const isWorkflow = isZip(only) || isStateFile(only);
    return wrong(
      isWorkflow ? `there are no scenarios for ${only}` : `${only} is no scenario file`,
      'Such a file ends in .test.yaml; name one, or the folder of a workflow.',
    );
  }
  return wrong(
    `there are no scenarios in ${paths.length > 1 ? 'any of these paths' : only === '.' ? 'this folder' : only}`,
    'A scenario is a file NAME.test.yaml beside the states of a workflow, or in a folder tests/ there: see docs/testing.md.',
  );
}

/** What belongs to others is not looked through, nor is a folder that is reached by a link: it may lead round in a circle. */
const isLookedInto = (entry: Dirent): boolean =>
  entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules';

const scenariosAmong = (entries: readonly Dirent[]): readonly string[] =>
  entries.filter((entry) => !entry.isDirectory() && SCENARIOS.test(entry.name)).map(({ name }) => name);

function* filesIn(folder: string, shown: string): Generator<string> {
  const entries = list(folder, shown);
  for (const name of scenariosAmong(entries)) yield join(shown, name);
  for (const { name } of entries.filter(isLookedInto)) yield* filesIn(join(folder, name), join(shown, name));
}

function list(folder: string, shown: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch (cause) {
    throw wrong(`${shown === '' ? 'this folder' : shown} cannot be read (${codeOf(cause)})`, 'Name another path.');
  }
}

const wrong = (message: string, hint: string): RaymondError =>
  new RaymondError(message, { exitCode: EXIT.usage, hint });

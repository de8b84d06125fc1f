import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { codeOf, EXIT, RaymondError } from '../errors.ts';

const SCENARIOS = /\.test\.ya?ml$/;

/** The scenario files that these paths mean, each once: files, and whatever lies in folders. As one would write them here. */
export function findFiles(paths: readonly string[], cwd: string): readonly string[] {
  const found = new Map(paths.flatMap((path) => filesAt(path, cwd)).map((file) => [resolve(cwd, file), file]));
  return [...found.values()];
}

function filesAt(path: string, cwd: string): readonly string[] {
  const whole = resolve(cwd, path);
  const stats = statSync(whole, { throwIfNoEntry: false });
  if (stats === undefined) throw wrong(`there is no ${path}`, 'Name a scenario file, or a folder to look for some in.');
  if (stats.isDirectory()) {
    const files = [...filesIn(whole, path === '.' ? '' : path)];
    if (files.length > 0) return files;
    throw wrong(
      `there are no scenarios in ${path === '.' ? 'this folder' : path}`,
      'A scenario is a file NAME.test.yaml beside the states of a workflow, or in a folder tests/ there: see docs/testing.md.',
    );
  }
  if (/\.ya?ml$/.test(path)) return [path];
  throw wrong(`${path} is no scenario file`, 'Such a file ends in .test.yaml; name one, or the folder of a workflow.');
}

/** What belongs to others is not looked through, nor is a folder that is reached by a link: it may lead round in a circle. */
const isLookedInto = (entry: Dirent): boolean =>
  entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules';

function* filesIn(folder: string, shown: string): Generator<string> {
  const entries = list(folder, shown).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name } of entries.filter((entry) => !entry.isDirectory() && SCENARIOS.test(entry.name))) {
    yield join(shown, name);
  }
  for (const { name } of entries.filter(isLookedInto)) yield* filesIn(join(folder, name), join(shown, name));
}

function list(folder: string, shown: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (cause) {
    throw wrong(`${shown === '' ? 'this folder' : shown} cannot be read (${codeOf(cause)})`, 'Name another path.');
  }
}

const wrong = (message: string, hint: string): RaymondError =>
  new RaymondError(message, { exitCode: EXIT.usage, hint });

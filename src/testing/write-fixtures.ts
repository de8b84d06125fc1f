import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT, errorCodeOf, RaymondError } from '../errors.ts';
import { isFolderName } from '../scenario/answer-schema.ts';
import type { TestSpec } from '../scenario/test-spec.ts';
import { writeInsideFolder } from '../turns/replay/write-inside-folder.ts';

/** Puts into the folder of a scenario what it holds at first: copies of its fixtures, and its files, which go before them. */
export function writeFixtures(folder: string, { files, fixtures }: Pick<TestSpec, 'files' | 'fixtures'>): void {
  for (const name of fixtures?.names.filter((each) => !Object.hasOwn(files, each)) ?? []) {
    const from = join(fixtures?.folder ?? '', name);
    try {
      if (isFolderName(name)) mkdirSync(join(folder, name));
      else copyFileSync(from, join(folder, name));
    } catch (error) {
      throw fixtureError(`${from} cannot be copied (${errorCodeOf(error)})`);
    }
  }
  for (const [name, content] of Object.entries(files)) {
    const problem = writeInsideFolder(folder, name, content);
    if (problem !== null) throw fixtureError(problem);
  }
}

const fixtureError = (message: string): RaymondError => new RaymondError(message, { exitCode: EXIT.invalid });

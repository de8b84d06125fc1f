import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, EXIT, RaymondError } from '../errors.ts';
import { isFolderName } from '../scenario/answer-schema.ts';
import type { Rehearsal } from '../scenario/rehearsal.ts';
import { writeInside } from '../turns/replay/write.ts';

/** Puts into the folder of a scenario what it holds at first: copies of its fixtures, and its files, which go before them. */
export function furnish(folder: string, { files, fixtures }: Pick<Rehearsal, 'files' | 'fixtures'>): void {
  for (const name of fixtures?.names.filter((each) => !Object.hasOwn(files, each)) ?? []) {
    const from = join(fixtures?.folder ?? '', name);
    try {
      if (isFolderName(name)) mkdirSync(join(folder, name));
      else copyFileSync(from, join(folder, name));
    } catch (error) {
      throw unusable(`${from} cannot be copied (${codeOf(error)})`);
    }
  }
  for (const [name, content] of Object.entries(files)) {
    const fault = writeInside(folder, name, content);
    if (fault !== null) throw unusable(fault);
  }
}

const unusable = (message: string): RaymondError => new RaymondError(message, { exitCode: EXIT.invalid });

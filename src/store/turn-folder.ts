import { access, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { diskProblem } from './disk-problem.ts';
import { makeFolder, PRIVATE_FOLDER, writeWhole } from './files.ts';
import type { Layout, TurnName } from './layout.ts';

/**
 * Makes the folder of a turn, with these files in it, before the turn is on record, and returns its path. What a
 * Raymond left there that died before it could record the turn is cleared away.
 *
 * Each file is synced, so that its text is whole once the turn is on record; the folder is not. If a power cut takes
 * its name away, the turn has no folder: that is seen, and it means that the turn never started.
 */
export async function prepareTurn(
  layout: Layout,
  run: string,
  turn: TurnName,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<string> {
  const folder = layout.turn(run, turn);
  if (await hasStarted(folder)) throw new Error(`${folder} belongs to a turn that has started`);
  await makeFolder(layout.turns(run));
  try {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { mode: PRIVATE_FOLDER });
    await Promise.all(Object.entries(files).map(([name, content]) => writeWhole(join(folder, name), content)));
    return folder;
  } catch (cause) {
    throw diskProblem(`The folder ${folder} cannot be filled`, cause, 'then try again. The turn was not started.');
  }
}

/** Removes what a turn left behind, for runs that are to leave nothing. */
export async function dropTurn(layout: Layout, run: string, turn: TurnName): Promise<void> {
  const folder = layout.turn(run, turn);
  await rm(folder, { recursive: true, force: true }).catch((cause: unknown) => {
    throw diskProblem(`The folder ${folder} cannot be removed`, cause, 'then remove it by hand.');
  });
}

const hasStarted = (folder: string): Promise<boolean> =>
  access(join(folder, 'started')).then(
    () => true,
    () => false,
  );

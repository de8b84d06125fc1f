import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findSandbox } from '../../src/process/sandbox.ts';

const PROGRAMS = join(import.meta.dirname, 'programs');

/** The PATH of tests in a sandbox: `install.mjs` may have put bubblewrap into a folder of its own. */
export const SANDBOX_PATH = existsSync(PROGRAMS) ? `${process.env.PATH}:${PROGRAMS}` : (process.env.PATH ?? '');

/** Why there is no sandbox here; null if there is one. */
export const NO_SANDBOX: string | null = await findSandbox({ PATH: SANDBOX_PATH }).then(
  () => null,
  (error: Error) => error.message,
);

/** The title of tests, with the reason if they are skipped. */
export const titled = (title: string, reason = NO_SANDBOX): string =>
  reason === null ? title : `${title} (skipped: ${reason})`;

/** A user to run as: the one of the tests, or one without any rights if that is root. */
export interface TestUser {
  readonly name: string;
  /** Comes before the command. */
  readonly prefix: readonly string[];
  readonly uid: number;
}

const NOBODY = 65_534;
const OWN_UID = process.getuid?.() ?? 0;
const canSwitch = OWN_UID === 0 && spawnSync('setpriv', ['--version']).status === 0;

/** The users that a sandbox is tried as: root if the tests run as root, and a normal user. */
export const USERS: readonly TestUser[] =
  OWN_UID === 0
    ? [
        { name: 'root', prefix: [], uid: 0 },
        ...(canSwitch
          ? [
              {
                name: 'a normal user',
                prefix: ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'],
                uid: NOBODY,
              },
            ]
          : []),
      ]
    : [{ name: 'a normal user', prefix: [], uid: OWN_UID }];

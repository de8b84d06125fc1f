import { existsSync } from 'node:fs';
import type { Options } from '../../core/options/options.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import { isWithin, realPathOf } from '../../git-repository.ts';
import type { Environment } from '../../process/command.ts';
import { findSandbox } from '../../process/sandbox.ts';
import { SANDBOX_POLICY } from './policy.ts';

/** Throws a RaymondError that says what to do if turns could have no sandbox in a folder with these options. */
export async function checkSandbox(
  folder: string,
  { sandboxRead, sandboxWrite }: Pick<Options, 'sandboxRead' | 'sandboxWrite'>,
  env: Environment,
): Promise<void> {
  await findSandbox(env);
  refuseVitalFolder(folder, env.HOME ? realPathOf(env.HOME) : null);
  for (const [key, paths] of [
    ['sandbox_write', sandboxWrite],
    ['sandbox_read', sandboxRead],
  ] as const) {
    const missing = paths.find((path) => !existsSync(path));
    if (missing !== undefined)
      throw new RaymondError(`\`${key}\` names ${missing}, which does not exist`, {
        exitCode: EXIT.usage,
        hint: 'Create it, or correct the config file.',
      });
  }
}

/** Refuses a folder that contains what the sandbox is to protect. */
export function refuseVitalFolder(folder: string, home: string | null): void {
  const root = realPathOf(folder);
  const isHome = home !== null && isWithin(home, root);
  const vital = SANDBOX_POLICY.machine.vital.find((path) => isWithin(path, root));
  if (!isHome && vital === undefined) return;
  const what = isHome ? 'your home folder' : vital;
  throw new RaymondError(`a sandboxed turn cannot work in ${root}, because ${what} is in it`, {
    exitCode: EXIT.usage,
    hint: 'Start the run in the folder of one project, or name one with --dir.',
  });
}

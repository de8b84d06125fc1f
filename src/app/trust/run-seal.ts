import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findRiskyOptions, formatRiskyOption, type RiskyOption } from '../../config/config.ts';
import { findUserConfigFolder } from '../../config/user-folder.ts';
import type { Settings } from '../../core/options/view-options.ts';
import type { Run } from '../../core/run/run.ts';
import { createFile, findForeignOwner, makePrivateFolder, PRIVATE_FILE_MODE } from '../../disk/files.ts';
import type { FolderLayout } from '../../disk/layout.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import { realPathOf } from '../../git-repository.ts';
import { sanitizeLine } from '../../render/sanitize.ts';
import { loadConfig } from '../config/load-config.ts';

/** The sealed facts: the run, and the programs that it starts with their rights. */
type SealedRun = Pick<Run, 'id' | 'workflow' | 'options'>;

/** Notes that this user has started a run with these options, or has resumed it with them. Earlier ones count, too: a crash may come next. */
export async function sealRun(layout: FolderLayout, run: SealedRun, env: NodeJS.ProcessEnv): Promise<void> {
  if (isSealed(layout, run, env)) return;
  const seal = await signAsUser(sealedText(layout, run), env);
  if (seal === null) return;
  await makePrivateFolder(layout.runFolder(run.id));
  // A run that cannot be sealed starts nevertheless: this user is asked when it is resumed.
  await appendFile(layout.sealsFile(run.id), `${seal}\n`, { mode: PRIVATE_FILE_MODE }).catch(() => {});
}

/** True if this user has started a run, or has resumed it, with the programs and rights that it has stored. */
export function isSealed(layout: FolderLayout, run: SealedRun, env: NodeJS.ProcessEnv): boolean {
  const text = sealedText(layout, run);
  return readSeals(layout.sealsFile(run.id)).some((seal) => isSignedByUser(text, seal, env));
}

const sealedText = ({ root }: FolderLayout, { id, workflow, options }: SealedRun): string =>
  JSON.stringify([
    'raymond run',
    realPathOf(root),
    id,
    workflow.path,
    findRiskyOptions(options).map(({ key, value }) => [key, value]),
  ]);

function readSeals(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}

/**
 * Finds the stored options of a run that start programs or widen what agents may do, and that this user has neither started it with nor set
 * anywhere else: not now, and not in a config file that counts here.
 */
export function findStoredRisks(
  layout: FolderLayout,
  run: SealedRun,
  changes: Partial<Settings>,
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): readonly RiskyOption[] {
  if (isSealed(layout, run, env)) return [];
  const risks = findRiskyOptions(run.options).filter(({ option }) => changes[option] === undefined);
  if (risks.length === 0) return [];
  const own = findRiskyOptions(loadConfig(cwd, env).options);
  return risks.filter(({ key, value }) => !own.some((each) => each.key === key && isSame(each.value, value)));
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Describes stored options in lines of their own. */
export const describeStoredRisks = (risks: readonly RiskyOption[]): readonly string[] =>
  risks.map((risk) => `  ${sanitizeLine(formatRiskyOption(risk))}`);

/** Creates the error for a run with stored options that this user has not chosen. */
export const storedRisksError = (run: string, risks: readonly RiskyOption[]): RaymondError =>
  new RaymondError(
    `You have not started the run ${run} with what it has stored:\n${describeStoredRisks(risks).join('\n')}`,
    {
      exitCode: EXIT.usage,
      hint: `If you know where it comes from, resume it in a terminal, which asks you: raymond resume ${run}. Or set these options yourself.`,
    },
  );

/*
 * Anybody can put files into a project: a stranger whose repository is cloned, or an agent. What this user's Raymond has written itself carries
 * a signature, made with a key that is in the folder of the user's own settings.
 */

/** Signs a text as this user; null if there is no place for a key, such as without HOME. */
export async function signAsUser(text: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  const folder = findUserConfigFolder(env);
  if (folder === null) return null;
  let key = readKey(env);
  if (key === null) {
    try {
      await makePrivateFolder(folder);
      await createFile(join(folder, KEY_FILE), `${randomBytes(32).toString('hex')}\n`);
    } catch {
      // No room, no permission: then this user is asked later.
      return null;
    }
    key = readKey(env);
  }
  return key === null ? null : sign(key, text);
}

/** True if this user has signed a text, on this machine or with a copy of its settings. */
export function isSignedByUser(text: string, signature: string, env: NodeJS.ProcessEnv): boolean {
  const key = readKey(env);
  if (key === null) return false;
  const [expected, given] = [Buffer.from(sign(key, text)), Buffer.from(signature)];
  return expected.length === given.length && timingSafeEqual(expected, given);
}

const KEY_FILE = 'run-key';

const sign = (key: string, text: string): string => createHmac('sha256', key).update(text).digest('hex');

/** The key; null if there is none, or none of this user's own. */
function readKey(env: NodeJS.ProcessEnv): string | null {
  const folder = findUserConfigFolder(env);
  const file = folder === null ? null : join(folder, KEY_FILE);
  if (file === null || (findForeignOwner(file) ?? 0) !== 0) return null;
  try {
    const key = readFileSync(file, 'utf8').trim();
    return /^[0-9a-f]{64}$/.test(key) ? key : null;
  } catch {
    return null;
  }
}

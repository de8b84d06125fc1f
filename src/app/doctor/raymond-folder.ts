import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { formatRiskySetting } from '../../config/config.ts';
import { createFile, diskError, replaceFile } from '../../disk/files.ts';
import { findRaymondFolder, layoutOf } from '../../disk/layout.ts';
import { errorCodeOf } from '../../errors.ts';
import { loadConfig, untrustedConfigError } from '../config/load-config.ts';
import { listUnfinishedFirst } from '../list-runs.ts';
import { openFileStorage } from '../open-files.ts';
import { findForeignFolders, refuseForeignFolders } from '../trust/foreign-folders.ts';
import { type HealthCheck, okResult, warningResult } from './check.ts';

/** Checks that the config files can be used; mistakes in them are thrown, with their lines. */
export const checkConfigFile: HealthCheck = async ({ cwd, env }) => {
  const { user, project, untrusted } = loadConfig(cwd, env);
  const files = [project, user].flatMap((config) => config?.file ?? []);
  if (files.length === 0) return okResult('no file, so the defaults apply; `raymond --init-config` writes one');
  if (project !== null && untrusted.length > 0)
    throw untrustedConfigError(project.file, untrusted.map(formatRiskySetting));
  return okResult(`${files.join(' and ')}; \`raymond config\` shows what is in effect`);
};

/** Checks that a run can be saved on this disk, by the same file operations as a run. */
export const checkRaymondFolder: HealthCheck = async ({ cwd, env }) => {
  const root = findRaymondFolder(cwd);
  refuseForeignFolders([cwd, root], env);
  const exists = existsSync(root);
  let trialFolder: string | undefined;
  try {
    trialFolder = await mkdtemp(exists ? join(root, 'doctor-') : join(dirname(root), '.raymond-doctor-'));
    const file = join(trialFolder, 'file');
    await createFile(file, 'whole');
    await replaceFile(file, 'anew');
  } catch (cause) {
    throw diskError(`Nothing can be saved in ${root}`, cause, 'then try again.');
  } finally {
    if (trialFolder !== undefined) await rm(trialFolder, { recursive: true, force: true }).catch(() => {});
  }
  return okResult(`${root}${exists ? '' : ', which the first run will create'}: writable, with hard links`);
};

/** Checks that other users cannot read `.raymond/`, which may contain anything that agents have seen. */
export const checkPermissions: HealthCheck = async ({ cwd, env }) => {
  const root = findRaymondFolder(cwd);
  // Another check says so.
  if (findForeignFolders([root], env).length > 0) return null;
  const stats = await stat(root).catch((error: unknown) => {
    if (errorCodeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (stats === null || process.getuid === undefined) return null;
  const mode = (stats.mode & 0o777).toString(8).padStart(4, '0');
  if ((stats.mode & 0o077) === 0) return okResult(`${mode}: only you can read ${root}`);
  return warningResult(`${mode}: other users can read ${root}`, `chmod 700 ${root}`);
};

const GIB = 1024 ** 3;

/** Checks that there is disk space for the files of runs. */
export const checkDiskSpace: HealthCheck = async ({ cwd }) => {
  const root = findRaymondFolder(cwd);
  const { bavail, bsize } = await statfs(existsSync(root) ? layoutOf(root).root : dirname(root));
  const free = bavail * bsize;
  const message = `${(free / GIB).toFixed(1)} GiB free`;
  return free < GIB
    ? warningResult(message, 'Long runs may fill that; free some space, or run with --no-debug.')
    : okResult(message);
};

/** Looks for runs that have crashed or cannot be read. */
export const checkRuns: HealthCheck = async ({ cwd, env }) => {
  const all = await listUnfinishedFirst(openFileStorage(cwd, env));
  if (all.length === 0) return null;
  const unreadable = all.filter(({ kind }) => kind === 'unreadable');
  if (unreadable.length > 0)
    return warningResult(
      `${unreadable.length} of ${all.length} cannot be read: ${formatRunIds(unreadable)}`,
      '`raymond list` tells why.',
    );
  const crashed = all.filter((run) => run.kind === 'run' && run.observedStatus === 'crashed');
  if (crashed.length > 0)
    return warningResult(
      `${crashed.length} of ${all.length} crashed: ${formatRunIds(crashed)}`,
      '`raymond recover --resume` resumes them.',
    );
  return okResult(`${all.length}, none crashed`);
};

const MAX_NAMES = 3;

const formatRunIds = (runs: readonly { readonly id: string }[]): string =>
  runs
    .slice(0, MAX_NAMES)
    .map(({ id }) => id)
    .concat(runs.length > MAX_NAMES ? ['…'] : [])
    .join(', ');

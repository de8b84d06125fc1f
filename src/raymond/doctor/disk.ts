import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { openConfig } from '../../config/config.ts';
import { codeOf } from '../../errors.ts';
import { diskProblem } from '../../store/disk-problem.ts';
import { createFile, replaceFile } from '../../store/files.ts';
import { findRaymondFolder, layoutOf } from '../../store/layout.ts';
import { configFile } from '../records.ts';
import { type Check, odd, well } from './check.ts';

/** Whether the config file can be used. What is wrong with it is thrown, with its lines. */
export const config: Check = async ({ cwd }) => {
  const file = configFile(cwd);
  if (openConfig(file) === null)
    return well('no file, so the defaults are in force; `raymond --init-config` writes one');
  return well(`${file}; \`raymond config\` shows what it says`);
};

/** Whether a run can be kept on this disk: tried with the very steps that a run takes. */
export const folder: Check = async ({ cwd }) => {
  const root = findRaymondFolder(cwd);
  const isThere = existsSync(root);
  let trial: string | undefined;
  try {
    trial = await mkdtemp(isThere ? join(root, 'doctor-') : join(dirname(root), '.raymond-doctor-'));
    const file = join(trial, 'file');
    await createFile(file, 'whole');
    await replaceFile(file, 'anew');
  } catch (cause) {
    throw diskProblem(`Nothing can be kept in ${root}`, cause, 'then try again.');
  } finally {
    if (trial !== undefined) await rm(trial, { recursive: true, force: true }).catch(() => {});
  }
  return well(`${root}${isThere ? '' : ', which the first run will make'}: writable, with hard links`);
};

/** Whether others can read what is kept, which may be anything that agents have seen. */
export const rights: Check = async ({ cwd }) => {
  const root = findRaymondFolder(cwd);
  const stats = await stat(root).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (stats === null || process.getuid === undefined) return null;
  const mode = (stats.mode & 0o777).toString(8).padStart(4, '0');
  if (stats.uid !== process.getuid())
    return odd(`${root} belongs to another user`, `chown it, or work in another folder.`);
  if ((stats.mode & 0o077) === 0) return well(`${mode}: only you can look into ${root}`);
  return odd(`${mode}: others can look into ${root}`, `chmod 700 ${root}`);
};

const GIB = 1024 ** 3;

/** Whether there is room for what runs leave behind. */
export const space: Check = async ({ cwd }) => {
  const root = findRaymondFolder(cwd);
  const { bavail, bsize } = await statfs(existsSync(root) ? layoutOf(root).root : dirname(root));
  const free = bavail * bsize;
  const said = `${(free / GIB).toFixed(1)} GiB free`;
  return free < GIB ? odd(said, 'Long runs may fill that; free some space, or run with --no-debug.') : well(said);
};

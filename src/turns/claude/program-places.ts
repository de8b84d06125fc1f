import { realpathSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { isWithin } from '../../git-repository.ts';
import { resolvePackageFile } from '../../package-files.ts';
import type { Environment } from '../../process/command.ts';
import { spellings } from './path-patterns.ts';

/** The facts that decide where the programs of a run come from. */
interface ProgramSources {
  readonly env: Environment;
  /** The path of Claude Code, if the run names one. */
  readonly claude: string | null;
  /** The folders in which agents work: relative paths start there, and none of them can be denied as a whole. */
  readonly workFolders: readonly string[];
}

/** The programs that Raymond and Claude Code start by their names. On the PATH there are often only links to them. */
const STARTED_PROGRAMS = ['claude', 'git', 'ssh', 'node', 'bash', 'sh', 'zsh'];

/** Variables whose value is the path of a file that shells, git or node read when they start. */
const FILE_VARIABLES = ['BASH_ENV', 'ENV', 'GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'CLAUDE_ENV_FILE'];

/** Variables whose value is a command, or options, in which such paths can stand. A name without a slash is looked up on the PATH. */
const COMMAND_VARIABLES = [
  ...['SHELL', 'CLAUDE_CODE_SHELL', 'CLAUDE_CODE_SHELL_PREFIX', 'NODE_OPTIONS', 'BUN_OPTIONS', 'NODE_COMPILE_CACHE'],
  ...['LD_PRELOAD', 'LD_AUDIT', 'DYLD_INSERT_LIBRARIES', 'GIT_EXEC_PATH', 'GIT_TEMPLATE_DIR', 'GIT_EXTERNAL_DIFF'],
  ...['GIT_SSH', 'GIT_SSH_COMMAND', 'GIT_PROXY_COMMAND', 'GIT_ASKPASS', 'SSH_ASKPASS'],
];

const ZSH_FILES = ['.zshenv', '.zprofile', '.zshrc', '.zlogin', '.zlogout'];

const OUTERMOST_PACKAGES = /^(.*?[\\/]node_modules)[\\/].*$/s;

/**
 * The files and folders that programs of a run are loaded from: the folders on the PATH and what links in them lead to, Raymond's own,
 * that of Claude Code, and what the environment names. `npx` puts the project's own packages on the PATH, so a package in a
 * `node_modules` stands for the whole of it. A folder in which agents work is left out, or they could not work there.
 */
export function findProgramPlaces({ env, claude, workFolders }: ProgramSources): readonly string[] {
  const fromWorkFolders = (path: string): readonly string[] => workFolders.map((folder) => resolve(folder, path));
  const onPath = [...new Set((env.PATH ?? '').split(delimiter).flatMap(fromWorkFolders))];
  const programs = [
    process.execPath,
    ...(claude === null ? [] : [claude]),
    ...onPath.flatMap((folder) => STARTED_PROGRAMS.map((name) => join(folder, name))),
  ].flatMap(findTarget);
  const holding = [...onPath, ...programs.map(dirname), ...OWN_FOLDERS.map(resolvePackageFile)].flatMap(spellings);
  const named = [
    ...FILE_VARIABLES.flatMap((name) => fillIn(env[name] ?? '', env) || []),
    ...COMMAND_VARIABLES.flatMap((name) => findPaths(env[name] ?? '')),
    ...(env.ZDOTDIR ? ZSH_FILES.map((name) => join(env.ZDOTDIR ?? '', name)) : []),
    ...(env.XDG_CACHE_HOME ? [join(env.XDG_CACHE_HOME, 'raymond')] : []),
  ].flatMap(fromWorkFolders);
  const places = new Set([
    ...holding.map((folder) => folder.replace(OUTERMOST_PACKAGES, '$1')),
    ...programs,
    ...named.flatMap(spellings),
  ]);
  return [...places].filter((place) => !workFolders.some((folder) => isWithin(folder, place)));
}

const OWN_FOLDERS = ['dist', 'node_modules'];

/** The file that a program is loaded from; none if there is no such program. */
function findTarget(path: string): readonly string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}

/** Shells fill in variables in the values of those that name a file. */
const fillIn = (value: string, env: Environment): string =>
  value.replace(/\$\{?(\w+)\}?/g, (_, name: string) => env[name] ?? '');

/** The words of a command that are paths. */
const findPaths = (command: string): readonly string[] =>
  command
    .split(/[\s"'=]+|:(?!\/\/)/)
    .filter((word) => word.includes('/') && !word.startsWith('-'))
    .map((word) => word.replace(/^file:\/\//, ''));

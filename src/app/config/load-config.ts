import { dirname, join } from 'node:path';
import { type Config, findRiskySettings, openConfig, type RiskySetting } from '../../config/config.ts';
import type { ConfigLayers } from '../../config/effective-settings.ts';
import { CONFIG_SCHEMA_FILE, configTemplate } from '../../config/template.ts';
import { isTrustedConfig } from '../../config/trust-list.ts';
import { findUserConfigFolder } from '../../config/user-folder.ts';
import type { Options } from '../../core/options/options.ts';
import { overlaySettings, type Settings, splitSettings, type ViewOptions } from '../../core/options/view-options.ts';
import { createFile, diskError, makePrivateFolder, replaceFile } from '../../disk/files.ts';
import { findLayout } from '../../disk/layout.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import { readPublishedSchema } from '../../package-files.ts';
import { normalizeTrustedPath, readTrustList, refuseForeignSettings } from '../trust/trust-store.ts';

/** The config that applies where one stands: the user's file, and over it that of the project. */
export interface LoadedConfig extends ConfigLayers {
  /** The options in force: without the settings that are not trusted. */
  readonly options: Partial<Options>;
  /** The options of views in force. */
  readonly view: Partial<ViewOptions>;
}

/** The path of the config file that applies in this folder; it may not exist. */
export const findConfigFile = (cwd = process.cwd()): string => findLayout(cwd).configFile;

/** The `.raymond` folder that applies in this folder; it may not exist. */
export const findProjectFolder = (cwd: string): string => findLayout(cwd).root;

/** The user's own config file; it may not exist. Null if the environment names no home. */
export function findUserConfigFile(env: NodeJS.ProcessEnv): string | null {
  const folder = findUserConfigFolder(env);
  return folder === null ? null : join(folder, 'config.toml');
}

/** Loads the config that applies in a folder. The user's file needs no trust. */
export function loadConfig(cwd: string, env: NodeJS.ProcessEnv): LoadedConfig {
  const user = openUserConfig(env);
  const project = openConfig(findConfigFile(cwd));
  const untrusted = project === null ? [] : findUntrusted(project, env);
  const inForce = overlaySettings(user?.options ?? {}, omitSettings(project, untrusted));
  return { user, project, untrusted, ...splitSettings(inForce) };
}

function openUserConfig(env: NodeJS.ProcessEnv): Config | null {
  const file = findUserConfigFile(env);
  if (file === null) return null;
  refuseForeignSettings(file);
  return openConfig(file);
}

function findUntrusted(project: Config, env: NodeJS.ProcessEnv): readonly RiskySetting[] {
  const risky = findRiskySettings(project);
  if (risky.length === 0) return [];
  return isTrustedConfig(project, normalizeTrustedPath(project.file), readTrustList(env)) ? [] : risky;
}

function omitSettings(config: Config | null, settings: readonly RiskySetting[]): Partial<Settings> {
  const omitted = new Set<string>(settings.map(({ option }) => option));
  return Object.fromEntries(Object.entries(config?.options ?? {}).filter(([name]) => !omitted.has(name)));
}

/**
 * The settings of an untrusted file that a run was started with, although this user never trusted their values: the
 * trust was revoked, or the run was not started by this user.
 */
export function findUntrustedInRun(
  { project, untrusted }: LoadedConfig,
  run: Partial<Settings>,
  env: NodeJS.ProcessEnv,
): readonly RiskySetting[] {
  if (project === null || untrusted.length === 0) return [];
  const path = normalizeTrustedPath(project.file);
  const earlier = readTrustList(env).files.find((entry) => entry.path === path)?.settings ?? {};
  return untrusted.filter(
    ({ option, key, value }) =>
      run[option] !== undefined && run[option] === project.options[option] && earlier[key] !== value,
  );
}

/** Creates the error for a project's config file that the user has to trust first. */
export const untrustedConfigError = (file: string, settings: readonly string[]): RaymondError =>
  new RaymondError(
    `${file} is not trusted, and it asks for more than a project may by itself:\n${settings.join('\n')}`,
    {
      exitCode: EXIT.usage,
      hint: 'Read the file. Then trust it as it is with `raymond trust`, or remove these lines.',
    },
  );

/** Writes a config file that explains every option, and returns its path. An existing one is left unchanged. */
export async function writeConfig(cwd: string): Promise<string> {
  const file = findConfigFile(cwd);
  await makePrivateFolder(dirname(file));
  const isNew = await createFile(file, configTemplate()).catch((cause) => throwDiskProblem(file, cause));
  if (isNew) {
    const schema = join(dirname(file), CONFIG_SCHEMA_FILE);
    await replaceFile(schema, readPublishedSchema('config')).catch((cause) => throwDiskProblem(schema, cause));
    return file;
  }
  throw new RaymondError(`There already is a config file: ${file}`, {
    exitCode: EXIT.usage,
    hint: 'It was left unchanged. `raymond config` shows its settings. To start over, move it away first.',
  });
}

function throwDiskProblem(file: string, cause: unknown): never {
  throw diskError(`${file} cannot be written`, cause, 'then try again.');
}

import { findUntrustedInRun, type LoadedConfig, loadConfig, untrustedConfigError } from '../app/config/load-config.ts';
import { readRunOptions, readStoredRisks } from '../app/run-files.ts';
import { describeStoredRisks, storedRisksError } from '../app/trust/run-seal.ts';
import { trustConfig } from '../app/trust/trust-store.ts';
import { type Config, formatRiskySetting, type RiskySetting } from '../config/config.ts';
import type { Options } from '../core/options/options.ts';
import { overlaySettings, type Settings, splitSettings } from '../core/options/view-options.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { sanitizeLine } from '../render/sanitize.ts';
import type { Terminal } from '../render/terminal/terminal.ts';

/** Adds what the config files of where one stands say and the command line does not. Asks for trust where it is needed. */
export async function addTrustedConfig(
  flags: Partial<Settings>,
  terminal: Terminal,
): Promise<ReturnType<typeof splitSettings>> {
  const load = (): LoadedConfig => loadConfig(terminal.cwd, terminal.env);
  const missing = ({ untrusted }: LoadedConfig): readonly RiskySetting[] =>
    untrusted.filter(({ option }) => flags[option] === undefined);
  const config = load();
  if (missing(config).length === 0) return addFlags(config, flags);
  await requestTrust(config, missing(config), terminal);
  // It is read again as it is now: what was shown is trusted, and nothing else.
  const trusted = load();
  if (trusted.project !== null && missing(trusted).length > 0)
    throw untrustedConfigError(trusted.project.file, describeSettings(missing(trusted)));
  return addFlags(trusted, flags);
}

const addFlags = ({ options, view }: LoadedConfig, flags: Partial<Settings>): ReturnType<typeof splitSettings> =>
  splitSettings(overlaySettings({ ...options, ...view }, flags));

/**
 * Asks before a run is resumed with settings of a config file that this user does not trust, or with programs and rights that somebody else has
 * stored in the run.
 */
export async function confirmTrustOfRun(runRef: string, flags: Partial<Options>, terminal: Terminal): Promise<void> {
  const { cwd, env, ask, err } = terminal;
  const config = loadConfig(cwd, env);
  if (config.untrusted.length > 0) {
    const settings = findUntrustedInRun(config, await readRunOptions(runRef, cwd), env);
    const missing = settings.filter(({ option }) => isUnset(flags, option));
    if (missing.length > 0) await requestTrust(config, missing, terminal);
  }
  const { id, risks } = await readStoredRisks(runRef, flags, terminal);
  if (risks.length === 0) return;
  if (ask === undefined) throw storedRisksError(id, risks);
  err(`You have not started the run ${id} with what it has stored:\n${describeStoredRisks(risks).join('\n')}\n`);
  if (!(await ask('Resume it with these options?'))) throw storedRisksError(id, risks);
}

const isUnset = (flags: Partial<Settings>, option: keyof Settings): boolean => flags[option] === undefined;

/** Refuses a run that this user has not started here: nobody looks at what is recovered. */
export async function refuseForeignRun(runRef: string, { cwd, env }: Terminal): Promise<void> {
  const { id, isOwn } = await readStoredRisks(runRef, {}, { cwd, env });
  if (isOwn) return;
  throw new RaymondError(
    `The run ${id} does not carry your signature: somebody else has started it, or an older version of Raymond.`,
    {
      exitCode: EXIT.usage,
      hint: `If you know where it comes from: raymond resume ${id}. Later recoveries then include it.`,
    },
  );
}

async function requestTrust(
  { project }: LoadedConfig,
  settings: readonly RiskySetting[],
  { ask, err, env }: Terminal,
): Promise<void> {
  if (project === null) return;
  const lines = describeSettings(settings);
  if (ask === undefined) throw untrustedConfigError(project.file, lines);
  err(describeRequest(project, lines));
  if (!(await ask(TRUST_QUESTION))) throw untrustedConfigError(project.file, lines);
  await trustConfig(project, env, Date.now());
}

/** Describes what the trust in a config file would permit. */
export const describeRequest = ({ file }: Config, settings: readonly string[]): string =>
  `${sanitizeLine(file)} asks for more than a project may by itself:\n${settings.join('\n')}\n`;

/** The question before a config file is trusted. */
export const TRUST_QUESTION = 'Trust this file as it is now?';

/** Describes settings in lines of their own. */
export const describeSettings = (settings: readonly RiskySetting[]): readonly string[] =>
  settings.map((setting) => `  ${sanitizeLine(formatRiskySetting(setting))}`);

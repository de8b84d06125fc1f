import type { Config } from '../config/config.ts';
import { formatRiskySetting, type RiskySetting } from '../config/risky-settings.ts';
import { overlaySettings, type Settings, splitSettings } from '../core/view-options.ts';
import { sanitizeLine } from '../events/sanitize.ts';
import { findUntrustedInRun, type LoadedConfig, loadConfig, untrustedConfigError } from '../runtime/load-config.ts';
import { readRunOptions } from '../runtime/run-files.ts';
import { trustConfig } from '../runtime/trust-store.ts';
import type { Terminal } from '../terminal/terminal.ts';

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

/** Asks for trust before a run is resumed with settings of a config file that this user does not trust. */
export async function confirmTrustOfRun(runRef: string, flags: Partial<Settings>, terminal: Terminal): Promise<void> {
  const { cwd, env } = terminal;
  const config = loadConfig(cwd, env);
  if (config.untrusted.length === 0) return;
  const settings = findUntrustedInRun(config, await readRunOptions(runRef, cwd), env);
  const missing = settings.filter(({ option }) => flags[option] === undefined);
  if (missing.length > 0) await requestTrust(config, missing, terminal);
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

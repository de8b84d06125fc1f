import type { WrittenValue } from '../core/options/option-types.ts';
import { overlaySettings } from '../core/options/view-options.ts';
import { CONFIG_OPTIONS, type Config, type RiskySetting } from './config.ts';

/** The config files that apply somewhere; null for one that does not exist. The project's overrides the user's. */
export interface ConfigLayers {
  readonly user: Config | null;
  readonly project: Config | null;
  /** The settings of the project's file that are not in force, because the user has not trusted it. */
  readonly untrusted: readonly RiskySetting[];
}

/** One option or variable, and where it comes from. */
export interface EffectiveSetting {
  readonly name: string;
  /** Null if the default cannot be written down; `note` then says what it means. */
  readonly value: WrittenValue | null;
  readonly note: string | null;
  readonly source: 'default' | 'user' | 'project';
  /** The config file that sets it; null for a default. */
  readonly file: string | null;
  /** The line of the config file that sets it; null for a default. */
  readonly line: number | null;
  /** False if it is not in force until the user trusts the project's file. */
  readonly trusted: boolean;
}

/** Lists the settings for a run that is started now without any option on its command line. */
export function listEffectiveSettings({ user, project, untrusted }: ConfigLayers): {
  readonly options: readonly EffectiveSetting[];
  readonly vars: readonly EffectiveSetting[];
} {
  const sources = [
    { source: 'project', config: project },
    { source: 'user', config: user },
  ] as const;
  const merged = overlaySettings(user?.options ?? {}, project?.options ?? {});
  const untrustedKeys = new Set(untrusted.map(({ key }) => key));
  return {
    options: CONFIG_OPTIONS.map(({ name, key, type, default: usual, whenOmitted }): EffectiveSetting => {
      const found = sources.find(({ config }) => config?.options[name] !== undefined);
      const kept = merged[name];
      if (!found?.config || kept === undefined)
        return { name: key, value: type.format(usual), note: whenOmitted ?? null, ...DEFAULT_SOURCE };
      const { source, config } = found;
      // The project's file names a permission mode, which takes back what the user's file permits.
      const isTakenBack = kept !== config.options[name];
      if (isTakenBack) return { name: key, value: type.format(kept), note: null, ...DEFAULT_SOURCE };
      const line = config.lineOf('raymond', key);
      const trusted = source === 'user' || !untrustedKeys.has(key);
      return { name: key, value: type.format(kept), note: null, source, file: config.file, line, trusted };
    }),
    vars: Object.entries(merged.variables ?? {}).flatMap(([name, value]): readonly EffectiveSetting[] => {
      const found = sources.find(({ config }) => Object.hasOwn(config?.options.variables ?? {}, name));
      if (!found?.config) return [];
      const { source, config } = found;
      const line = config.lineOf('vars', name);
      return [{ name, value, note: null, source, file: config.file, line, trusted: true }];
    }),
  };
}

const DEFAULT_SOURCE = { source: 'default', file: null, line: null, trusted: true } as const;

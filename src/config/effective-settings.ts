import type { Config } from './config.ts';
import { type ConfigValue, SETTINGS } from './settings.ts';

/** One option or variable as it is in force, and where it comes from. */
export interface EffectiveSetting {
  readonly name: string;
  /** Null where the default cannot be written down; `note` then says what it means. */
  readonly value: ConfigValue | null;
  readonly note: string | null;
  readonly source: 'default' | 'config';
  /** The line of the config file that sets it; null for a default. */
  readonly line: number | null;
}

/** What is in force for a run that is started now without any option on its command line. */
export function listEffectiveSettings(config: Config | null): {
  readonly options: readonly EffectiveSetting[];
  readonly vars: readonly EffectiveSetting[];
} {
  const options = Object.entries(SETTINGS).map(([name, { sample, whenOmitted }]): EffectiveSetting => {
    const value = config?.raymond.get(name);
    if (config && value !== undefined)
      return { name, value, note: null, source: 'config', line: config.lineOf('raymond', name) };
    return { name, value: whenOmitted === null ? sample : null, note: whenOmitted, source: 'default', line: null };
  });
  const vars = [...(config?.vars ?? [])].map(([name, value]): EffectiveSetting => {
    return { name, value, note: null, source: 'config', line: config?.lineOf('vars', name) ?? null };
  });
  return { options, vars };
}

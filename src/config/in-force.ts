import type { Config } from './config.ts';
import { type Plain, SETTINGS } from './settings.ts';

/** One option or variable as it is in force, and where it comes from. */
export interface InForce {
  readonly name: string;
  /** Null where the default cannot be written down; `note` then says what it means. */
  readonly value: Plain | null;
  readonly note: string | null;
  readonly source: 'default' | 'config';
  /** The line of the config file that sets it; null for a default. */
  readonly line: number | null;
}

/** What is in force for a run that is started now without any option on its command line. */
export function inForce(config: Config | null): {
  readonly options: readonly InForce[];
  readonly vars: readonly InForce[];
} {
  const options = Object.entries(SETTINGS).map(([name, { sample, otherwise }]): InForce => {
    const value = config?.raymond.get(name);
    if (config && value !== undefined)
      return { name, value, note: null, source: 'config', line: config.lineOf('raymond', name) };
    return { name, value: otherwise === null ? sample : null, note: otherwise, source: 'default', line: null };
  });
  const vars = [...(config?.vars ?? [])].map(([name, value]): InForce => {
    return { name, value, note: null, source: 'config', line: config?.lineOf('vars', name) ?? null };
  });
  return { options, vars };
}

import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { SETTINGS } from '../../src/config/settings.ts';
import { configTemplate } from '../../src/config/template.ts';
import { DEFAULT_OPTIONS, type Options } from '../../src/core/run.ts';

const uncommented = (text: string): string => text.replace(/^#(?=\w)/gm, '');

describe('the config file to start from', () => {
  test('changes nothing as it is', () => {
    expect(parseConfig(configTemplate(), 'config.toml').options).toStrictEqual({});
  });

  test('names every option once, and with every line uncommented it is right', () => {
    const { raymond, vars } = parseConfig(uncommented(configTemplate()), 'config.toml');
    expect([...raymond.keys()]).toStrictEqual(Object.keys(SETTINGS));
    expect([...vars]).toStrictEqual([['issue', '195']]);
  });

  test.each(Object.entries(SETTINGS))(
    'tells the default of %s',
    (name, { sample, whenOmitted: otherwise, toOptions: option }) => {
      const [key] = Object.keys(option(sample)) as (keyof Options)[];
      if (key === undefined) throw new Error(`${name} sets nothing`);
      if (otherwise === null) expect(option(sample)).toStrictEqual({ [key]: DEFAULT_OPTIONS[key] });
      else expect(DEFAULT_OPTIONS[key]).toBeNull();
    },
  );

  test('leaves out no option of a run but who answers, which is a matter of one run', () => {
    const set = Object.values(SETTINGS).flatMap(({ sample, toOptions: option }) => Object.keys(option(sample)));
    expect([...set, 'variables', 'agent'].sort()).toStrictEqual(Object.keys(DEFAULT_OPTIONS).sort());
  });

  test('fits into a terminal', () => {
    expect(
      configTemplate()
        .split('\n')
        .filter((line) => line.length > 120),
    ).toStrictEqual([]);
  });
});

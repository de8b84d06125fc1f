import { describe, expect, test } from 'vitest';
import { CONFIG_OPTIONS, parseConfig } from '../../src/config/config.ts';
import { configTemplate } from '../../src/config/template.ts';
import { OPTIONS } from '../../src/core/options/options.ts';

const uncommented = (text: string): string => text.replace(/^#(?=\w)/gm, '');

describe('the config file to start from', () => {
  test('changes nothing until it is edited', () => {
    expect(parseConfig(configTemplate(), 'config.toml').options).toStrictEqual({});
  });

  test('is valid with every line uncommented, and has every option once with its default', () => {
    const { options, lineOf } = parseConfig(uncommented(configTemplate()), 'config.toml');
    expect(options.variables).toStrictEqual({ issue: '195' });
    const lines = CONFIG_OPTIONS.map(({ key }) => lineOf('raymond', key));
    expect(lines).toStrictEqual([...new Set(lines)].sort((a, b) => a - b));
    for (const { name, default: usual, whenOmitted } of CONFIG_OPTIONS) {
      if (whenOmitted === undefined) expect(options).toHaveProperty(name, usual);
      else expect([options[name] ?? null, usual]).toStrictEqual([expect.anything(), null]);
    }
  });

  test('has every option except those that apply to a single run', () => {
    const left = OPTIONS.filter((option) => !CONFIG_OPTIONS.includes(option)).map(({ name }) => name);
    expect(left).toStrictEqual(['variables', 'root', 'agent']);
  });

  test('fits into a terminal', () => {
    expect(
      configTemplate()
        .split('\n')
        .filter((line) => line.length > 120),
    ).toStrictEqual([]);
  });
});

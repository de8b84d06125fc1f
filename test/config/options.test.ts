import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ParsedOptions } from '../../src/cli/command.ts';
import { COMMAND_TABLE } from '../../src/cli/command-table.ts';
import { createProgram } from '../../src/cli/program.ts';
import { parseRunOptions } from '../../src/cli/run-options.ts';
import { CONFIG_OPTIONS, parseConfig } from '../../src/config/config.ts';
import { DEFAULT_OPTIONS, flagOf, OPTION_TABLE, OPTIONS } from '../../src/core/options/options.ts';
import { newCliProject } from '../cli/cli-project.ts';
import { itemsOf } from '../docs/items.ts';
import { openPage } from '../docs/pages.ts';

const docs = (page: string): string => readFileSync(join(import.meta.dirname, '..', '..', 'docs', page), 'utf8');

/** The flags of every option: `--wait` and `--no-wait` belong to one. */
const FLAGS = new Map(
  OPTIONS.filter(({ argument }) => argument !== undefined).map((option) => {
    const flag = flagOf(option);
    return [option.name, option.negation === undefined ? [flag] : [flag, flag.replace('--', '--no-')]];
  }),
);

describe('the table of options', () => {
  test('has one name for each', () => {
    expect(new Set(OPTIONS.map(({ key }) => key)).size).toBe(OPTIONS.length);
  });

  test.each(OPTIONS)('writes the default of $key so that it can be read again', ({ name, type }) => {
    const written = type.format(DEFAULT_OPTIONS[name]);
    if (written !== null) expect(type.parse(written)).toStrictEqual(DEFAULT_OPTIONS[name]);
  });

  test.each(OPTIONS.filter(({ whenOmitted }) => whenOmitted !== undefined))(
    'has an example where the default of $key cannot be written',
    ({ type, default: usual, example }) => {
      expect([usual, type.format(usual)]).toStrictEqual([null, null]);
      expect(type.parse(example)).toBeDefined();
    },
  );

  test('describes each option in a phrase that can also become a sentence', () => {
    const phrases = OPTIONS.flatMap(({ help, negation = help }) => [help, negation]);
    expect(phrases.filter((phrase) => !/^[a-z].*[^.]$/.test(phrase))).toStrictEqual([]);
  });
});

describe.each(['run', 'resume'])('the command %s', (command) => {
  const flags = (COMMAND_TABLE.find(({ name }) => name === command)?.flags ?? []).map(
    ([form]) => form.split(' ')[0] ?? '',
  );

  test('has the flags of every option', () => {
    expect(flags).toStrictEqual(expect.arrayContaining([...FLAGS.values()].flat()));
    expect(new Set(flags).size).toBe(flags.length);
  });
});

describe('on the command line', () => {
  test.each(['run', 'resume'])(
    'with %s an option that is not given is not set, so that no other value is overridden',
    async (command) => {
      let given: ParsedOptions | undefined;
      const program = createProgram(newCliProject().terminal(), async (_, __, options) => {
        given = options;
        return 0;
      });
      await program([command, 'x']);
      expect(parseRunOptions(given ?? { budget: 'none' }, '/')).toStrictEqual({});
    },
  );

  test('options are read as in the config file', () => {
    const given = { budget: '2.5', maxIterations: '0', model: 'Opus', timeout: '0.0001', wait: false, claude: './c' };
    expect(parseRunOptions({ ...given, agent: 'replay:a.yaml', var: ['a=b=c'] }, '/x')).toStrictEqual({
      variables: { a: 'b=c' },
      budgetMicros: 2_500_000,
      maxIterations: null,
      model: 'opus',
      timeoutMs: 1,
      wait: false,
      agent: 'replay:/x/a.yaml',
      claude: './c',
    });
  });

  test('a permission mode revokes the permission for everything, unless that is given, too', () => {
    const mode = { permissionMode: 'plan' };
    expect(parseRunOptions(mode, '/')).toStrictEqual({ ...mode, skipPermissions: false });
    expect(parseRunOptions({ ...mode, dangerouslySkipPermissions: true }, '/').skipPermissions).toBe(true);
  });

  test.each([
    [{ budget: 'ten' }, '--budget must be a number of at least 0, not `ten`'],
    [{ budget: '1000000000' }, '--budget must be less than 1000000000, not `1000000000`'],
    [{ retries: '1.5' }, '--retries must be a whole number of at least 0, not `1.5`'],
    [{ model: ' ' }, '--model must be a text, not ` `'],
    [{ effort: 'hihg' }, '--effort: the effort `hihg` is unknown (did you mean high?)'],
    [{ permissionMode: 'yolo' }, '--permission-mode: the permission mode `yolo` is unknown'],
    [{ agent: 'gemini' }, '--agent must be claude or replay:FILE, not `gemini`'],
    [{ var: ['x'] }, '--var must be name=value, not `x`'],
    [
      { var: ['PATH=x'] },
      '--var: `PATH` cannot be a variable: scripts would take it for something else; use another name',
    ],
  ])('%j is refused', (given, message) => {
    expect(() => parseRunOptions(given, '/')).toThrow(message);
  });
});

describe('the documentation', () => {
  const [, example = ''] = /```toml\n([\s\S]*?)```/.exec(docs('configuration.md')) ?? [];

  test('has every option of the config file in its example, each with its default if that can be written', () => {
    const { options } = parseConfig(example, 'configuration.md');
    for (const { name, default: usual, whenOmitted } of CONFIG_OPTIONS) {
      expect(Object.keys(options)).toContain(name);
      if (whenOmitted === undefined) expect(options).toHaveProperty(name, usual);
    }
    expect(options.variables).toStrictEqual({ issue: '195' });
  });

  test('has every option of a run on the page about the run file', () => {
    const stated = itemsOf(openPage('docs/run-file.md'), 'Options').flatMap(({ names }) => names);
    expect(stated.toSorted()).toStrictEqual(Object.keys(OPTION_TABLE).toSorted());
  });
});

import { describe, expect, test } from 'vitest';
import { openConfig, parseConfig } from '../../src/config/config.ts';
import type { Options } from '../../src/core/options/options.ts';
import { RaymondError } from '../../src/errors.ts';

const configOf = (text: string, file: string): Partial<Options> => parseConfig(text, file).options;

function problemsOf(text: string): string {
  try {
    configOf(text, 'config.toml');
  } catch (error) {
    if (error instanceof RaymondError) return error.message;
    throw error;
  }
  return 'nothing';
}

describe('a config file', () => {
  test('sets the options of a run', () => {
    const text = `
[raymond]
budget = 50.0
max_iterations = 7
model = "Sonnet"
effort = "HIGH"
timeout = 1.5
parallel = 0
reminders = 5
retries = 1
wait = false
reset_stack = "clear"
permission_mode = "plan"
dangerously_skip_permissions = true
debug = false
claude = "/opt/claude"

[vars]
issue = "195"
`;
    expect(configOf(text, 'config.toml')).toStrictEqual({
      budgetMicros: 50_000_000,
      maxIterations: 7,
      model: 'sonnet',
      effort: 'high',
      timeoutMs: 1500,
      parallel: null,
      reminders: 5,
      retries: 1,
      wait: false,
      resetStack: 'clear',
      permissionMode: 'plan',
      skipPermissions: true,
      debug: false,
      claude: '/opt/claude',
      variables: { issue: '195' },
    });
  });

  test('may be empty, and may be missing', () => {
    expect(configOf('', 'config.toml')).toStrictEqual({});
    expect(configOf('[raymond]\nbudget = 0\n', 'config.toml')).toStrictEqual({ budgetMicros: null });
    expect(openConfig('/nowhere/config.toml')).toBeNull();
  });

  test('has all its problems reported together, each with its line', () => {
    const text = '[raymond]\nbugdet = 5\nmodel = 3\nreset_stack = "maybe"\n\n[vars]\nPATH = "x"\nn = 4\n\n[raymnd]\n';
    expect(problemsOf(text).split('\n')).toStrictEqual([
      'config.toml:2: there is no option `bugdet` (did you mean budget?)',
      'config.toml:3: `model` must be a text, not 3',
      'config.toml:4: `reset_stack` must be "keep" or "clear", not "maybe"',
      'config.toml:7: `PATH` cannot be a variable: scripts would take it for something else; use another name',
      'config.toml:8: the variable `n` must be a text, not 4',
      'config.toml:10: `raymnd` means nothing here (did you mean raymond?); options belong under [raymond], variables under [vars]',
    ]);
  });

  test.each([
    ['budget = 5\n', 'config.toml:1: `budget` is an option: put [raymond] above it'],
    ['raymond = 5\n', 'config.toml:1: `raymond` must be a table, [raymond], not 5'],
    ['[[vars]]\na = "x"\n', 'config.toml:1: `vars` must be a table, [vars], not a list of tables'],
    ['[raymond]\nbudget = nan\n', 'config.toml:2: `budget` must be a number of at least 0, not nan'],
    ['[raymond]\nbudget = 1e10\n', 'config.toml:2: `budget` must be less than 1000000000, not 10000000000'],
    ['[raymond]\nretries = 1.5\n', 'config.toml:2: `retries` must be a whole number of at least 0, not 1.5'],
    ['[raymond]\nwait = "no"\n', 'config.toml:2: `wait` must be true or false, not "no"'],
    ['[raymond]\nmodel = 2026-01-01\n', 'config.toml:2: `model` must be a text, not 2026-01-01'],
    ['[raymond.model]\na = 1\n', 'config.toml:1: `model` must be a text, not a table'],
    ['[raymond]\n\nclaude = " "\n', 'config.toml:3: `claude` must be a text, not " "'],
    ['[raymond]\n__proto__ = 1\n', 'config.toml:2: there is no option `__proto__`'],
    [
      '[vars]\nresult = "x"\n',
      'config.toml:2: `result` cannot be a variable: {{result}} has a meaning of its own; use another name',
    ],
  ])('is refused with a precise message: %j', (text, problem) => {
    expect(problemsOf(text)).toBe(problem);
  });

  test('accepts the shortest timeout', () => {
    expect(configOf('[raymond]\ntimeout = 0.0001\n', 'config.toml')).toStrictEqual({ timeoutMs: 1 });
    expect(configOf('[raymond]\ntimeout = 0\n', 'config.toml')).toStrictEqual({ timeoutMs: 0 });
  });

  test('is refused with line and column if it is not TOML', () => {
    expect(problemsOf('[raymond]\nbudget = \n')).toMatch(/^config\.toml:2:\d+: \w/);
  });
});

describe('a hostile config file is refused in one line', () => {
  const many = (count: number, text: string, separator = ''): string =>
    Array.from({ length: count }, () => text).join(separator);
  test.each([
    ['a key of many parts', `${many(20_000, 'a', '.')} = 1`, /nested more than 50 levels deep/],
    ['an option of many parts', `raymond.budget.${many(20_000, 'a', '.')} = 1`, /nested more than 50 levels deep/],
    ['a header of many parts', `[${many(20_000, 'a', '.')}]`, /nested more than 50 levels deep/],
    ['deep lists', `a = ${many(20_000, '[')}`, /excessively nested/],
    ['much of it', many(1_100_000, '#'), /more than 1 MiB/],
    ['a list of many lines', `[raymond]\nbudget = [\n${many(40_000, '1,\n')}]`, /budget/],
    [
      'many keys',
      many(30_000, 'x').replace(/x/g, () => `k${Math.random()} = 1\n`.replace('.', '')),
      /means nothing here/,
    ],
  ])('%s', (_, text, problem) => {
    expect(problemsOf(text)).toMatch(problem);
  });
});

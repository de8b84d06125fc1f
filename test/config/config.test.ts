import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { configOf, readConfig } from '../../src/config/config.ts';
import { SETTINGS } from '../../src/config/settings.ts';
import { RaymondError } from '../../src/errors.ts';

function problemsOf(text: string): string {
  try {
    configOf(text, 'config.toml');
  } catch (error) {
    if (error instanceof RaymondError) return error.message;
    throw error;
  }
  return 'nothing';
}

test('the example in the documentation names every option there is, and is right', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'configuration.md'), 'utf8');
  const example = /```toml\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  expect(configOf(example, 'config.toml')).toMatchObject({ budgetMicros: 50_000_000, variables: { issue: '195' } });
  for (const key of Object.keys(SETTINGS)) expect(example).toMatch(new RegExp(`^${key} = `, 'm'));
});

describe('a config file', () => {
  test('says what the options of a run are', () => {
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
      parallel: 0,
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
    expect(readConfig('/nowhere/config.toml')).toStrictEqual({});
  });

  test('has all its problems told at once, each with its line', () => {
    const text = '[raymond]\nbugdet = 5\nmodel = 3\nreset_stack = "maybe"\n\n[vars]\nPATH = "x"\nn = 4\n\n[raymnd]\n';
    expect(problemsOf(text).split('\n')).toStrictEqual([
      'config.toml:10: `raymnd` means nothing here (did you mean raymond?); options belong under [raymond]',
      'config.toml:2: there is no option `bugdet` (did you mean budget?)',
      'config.toml:3: `model` must be a text, not 3',
      'config.toml:4: `reset_stack` must be "keep" or "clear", not "maybe"',
      'config.toml:7: `PATH` cannot be a variable: scripts would take it for something else; use another name',
      'config.toml:8: the variable `n` must be a text, not 4',
    ]);
  });

  test('that is no TOML is refused with line and column', () => {
    expect(problemsOf('[raymond]\nbudget = \n')).toMatch(/^config\.toml:2:\d+: \w/);
  });
});

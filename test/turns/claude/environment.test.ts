import { expect, test } from 'vitest';
import { claudeEnvironment } from '../../../src/turns/environment.ts';

test('Claude Code inherits the environment, but no variables of Raymond or of another Claude Code', () => {
  const ours = {
    PATH: '/bin',
    ANTHROPIC_API_KEY: 'k',
    RAYMOND_RESULT: 'x',
    CLAUDECODE: '1',
    CLAUDE_CODE_ENTRYPOINT: 'cli',
  };
  expect(claudeEnvironment({ ...ours, EMPTY: undefined })).toStrictEqual({
    PATH: '/bin',
    ANTHROPIC_API_KEY: 'k',
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
    CLAUDE_CODE_DISABLE_CRON: '1',
    CLAUDE_CODE_EAGER_FLUSH: '1',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.bareRepository',
    GIT_CONFIG_VALUE_0: 'explicit',
  });
});

test('settings of git that the user has put into the environment are kept, and one is added', () => {
  const ours = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'user.name', GIT_CONFIG_VALUE_0: 'me' };
  expect(claudeEnvironment(ours)).toMatchObject({
    ...ours,
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_1: 'safe.bareRepository',
    GIT_CONFIG_VALUE_1: 'explicit',
  });
});

test('variables set by the user are kept', () => {
  const env = claudeEnvironment({
    DISABLE_AUTOUPDATER: '0',
    CLAUDE_CODE_MAX_RETRIES: '3',
    CLAUDE_CODE_EAGER_FLUSH: '',
  });
  expect(env).toMatchObject({ DISABLE_AUTOUPDATER: '0', CLAUDE_CODE_MAX_RETRIES: '3', CLAUDE_CODE_EAGER_FLUSH: '' });
});

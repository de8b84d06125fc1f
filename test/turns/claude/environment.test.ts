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

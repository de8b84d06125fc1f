import { expect, test } from 'vitest';
import {
  findEffortProblem,
  findModelProblem,
  findPermissionModeProblem,
  normalizeEffort,
  normalizeModel,
} from '../../src/language/claude-values.ts';

test.each([
  ['opus', 'opus'],
  ['OPUS', 'opus'],
  ['Sonnet', 'sonnet'],
  ['hAiKu', 'haiku'],
  ['Sonnet[1M]', 'sonnet[1m]'],
])('reads the model alias %s in any letter case and passes %s', (written, passed) => {
  expect(normalizeModel(written)).toBe(passed);
});

test.each(['claude-opus-4-1-20250805', 'Claude-Opus-X', 'us.anthropic.Claude-V1:0', 'opus-4', 'my-Sonnet', ''])(
  'passes the full model id "%s" as written',
  (id) => {
    expect(normalizeModel(id)).toBe(id);
  },
);

test.each([
  ['low', 'low'],
  ['Medium', 'medium'],
  ['HIGH', 'high'],
  ['Max', 'max'],
])('reads the effort %s in any letter case and passes %s', (written, passed) => {
  expect(normalizeEffort(written)).toBe(passed);
});

test.each(['opus', 'SONNET', 'haiku[1m]', 'claude-opus-9', 'us.anthropic.x', 'openrouter/any'])(
  'knows the model %s',
  (model) => {
    expect(findModelProblem(model)).toBeUndefined();
  },
);

test.each([
  ['sonet', true, 'the model `sonet` is unknown (did you mean sonnet?)'],
  ['claude-sonet-4', true, 'the model `claude-sonet-4` is unknown (did you mean claude-sonnet-4?)'],
  ['high', true, 'the model `high` is unknown: that is an effort'],
  ['sonnet-4', false, 'the model `sonnet-4` is unknown (did you mean sonnet?)'],
  ['gpt-5', false, 'the model `gpt-5` is unknown'],
])('does not know the model %s: certainly wrong: %j', (model, isCertain, message) => {
  const hint = 'Write opus, sonnet, haiku or a full model id.';
  expect(findModelProblem(model)).toStrictEqual({ message, hint, isCertain });
});

test.each([
  [findEffortProblem, 'hihg', 'the effort `hihg` is unknown (did you mean high?)'],
  [findEffortProblem, 'opus', 'the effort `opus` is unknown: that is a model'],
  [
    findPermissionModeProblem,
    'acceptedits',
    'the permission mode `acceptedits` is unknown (did you mean acceptEdits?)',
  ],
])('%o does not know %s', (find, word, message) => {
  expect(find(word)).toMatchObject({ message, isCertain: true });
});

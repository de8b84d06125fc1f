import { expect, test } from 'vitest';
import { choosePreference, normalizeEffort, normalizeModel } from '../../src/core/preference.ts';

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

const NONE = { model: null, effort: null };

test.each([
  ['the tag before the state', { ...NONE, model: 'opus' }, { ...NONE, model: 'haiku' }, NONE, 'opus'],
  ['the state before the command line', NONE, { ...NONE, model: 'haiku' }, { ...NONE, model: 'sonnet' }, 'haiku'],
  ['the command line if nobody else asks', NONE, NONE, { ...NONE, model: 'sonnet' }, 'sonnet'],
  ['no model at all if nobody asks', NONE, NONE, NONE, null],
])('asks for %s', (_, tag, state, launch, model) => {
  expect(choosePreference(tag, state, launch)).toStrictEqual({ model, effort: null });
});

test('decides about model and effort separately', () => {
  const tag = { model: 'opus', effort: null };
  const state = { model: 'haiku', effort: 'high' };
  expect(choosePreference(tag, state, { model: null, effort: 'low' })).toStrictEqual({ model: 'opus', effort: 'high' });
});

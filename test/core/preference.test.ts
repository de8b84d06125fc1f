import { expect, test } from 'vitest';
import { choosePreference } from '../../src/core/turns/due.ts';

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

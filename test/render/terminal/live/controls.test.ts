import { expect, test } from 'vitest';
import { INITIAL_CONTROLS, pressKey, type ViewControls } from '../../../../src/render/terminal/live/controls.ts';

const RANGE = { lastOffset: 25, page: 10 };
const press = (...keys: string[]): ViewControls =>
  keys.reduce((controls, key) => pressKey(controls, key, RANGE), INITIAL_CONTROLS);

test.each([
  [['down', 'down', 'j'], { offset: 3 }],
  [['up'], { offset: 0 }],
  [['pagedown', 'pageup', 'k'], { offset: 0 }],
  [['pagedown', 'pagedown', 'pagedown'], { offset: 25 }],
  [['end', 'up'], { offset: 24 }],
  [['G', 'g'], { offset: 0 }],
  [['down', 'f'], { isFolded: true, offset: 0 }],
  [['f', 'f'], { isFolded: false }],
  [['space'], { isFrozen: true }],
  [['p', 'space'], { isFrozen: false }],
  [['ctrl-s', 'ctrl-s'], { isFrozen: true }],
  [['ctrl-s', 'ctrl-q'], { isFrozen: false }],
  [['?'], { showsHelp: true }],
  [['h', '?'], { showsHelp: false }],
  [['?', 'space', 'down', 'escape'], {}],
])('the keys %j', (keys, expected) => {
  expect(press(...keys)).toStrictEqual({ ...INITIAL_CONTROLS, ...expected });
});

test('a key without a meaning changes nothing', () => {
  for (const key of ['x', '', 'constructor', 'ctrl-d', 'return'])
    expect(pressKey(INITIAL_CONTROLS, key, RANGE)).toBe(INITIAL_CONTROLS);
});

test('what is scrolled out of reach, because agents have ended, is scrolled back at the next key', () => {
  expect(pressKey({ ...INITIAL_CONTROLS, offset: 99 }, 'up', RANGE).offset).toBe(24);
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const CSS = readFileSync(join(import.meta.dirname, '..', '..', 'web', 'page.css'), 'utf8');
const COLORS = new Map(
  Array.from(CSS.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g), ([, name = '', light = '', dark = '']) => [
    name,
    { light, dark },
  ]),
);

/** The relative luminance and the contrast of colors, as the Web Content Accessibility Guidelines define them. */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(name: string, background: string, theme: 'light' | 'dark'): number {
  const [lighter = 0, darker = 0] = [name, background]
    .map((each) => luminance(COLORS.get(each)?.[theme] ?? '#000000'))
    .toSorted((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

const PANEL_TEXT = ['ink', 'faint', 'accent', 'wrong', 'fork', 'here', 'goto', 'reset', 'call', 'result'];
const FILLS = ['prompt-fill', 'script-fill', 'wrong-fill', 'gone-fill'];
const SHAPES = ['prompt', 'script', 'wrong', 'here', 'untaken', 'goto', 'reset', 'call', 'fork', 'result', 'faint'];

/** Pairs of color and background, and the least contrast: 4.5 for text, 3 for lines. */
const PAIRS: readonly (readonly [string, string, number])[] = [
  ...PANEL_TEXT.map((text) => [text, 'paper', 4.5] as const),
  ...['ink', 'faint'].map((text) => [text, 'board', 4.5] as const),
  ...FILLS.flatMap((fill) => ['ink', 'faint', 'wrong', 'here'].map((text) => [text, fill, 4.5] as const)),
  ...SHAPES.map((shape) => [shape, 'board', 3] as const),
];

test.each(['light', 'dark'] as const)(
  'in the %s theme, text and lines of the page can be told from what is behind them',
  (theme) => {
    expect(COLORS.size).toBeGreaterThan(15);
    const weak = PAIRS.filter(([color, background, least]) => contrast(color, background, theme) < least);
    expect(weak).toStrictEqual([]);
  },
);

import { inspect, styleText } from 'node:util';
import type { ObservedStatus } from '../core/run/status.ts';

const TEXT_STYLES = ['bold', 'dim', 'red', 'green', 'yellow', 'cyan', 'inverse'] as const;

/** The styles that output uses. */
export type TextStyle = (typeof TEXT_STYLES)[number];

/** Matches the sequences that begin and end the styles above, and no others. */
export const STYLE_SEQUENCES = new RegExp(
  `(\u001b\\[(?:${TEXT_STYLES.flatMap((style) => inspect.colors[style] ?? []).join('|')})m)`,
);

/** Adds a style to a text, or returns it as it is where there is no color. */
export type Colorizer = (style: TextStyle, text: string) => string;

/** Creates a colorizer that adds styles only if `color` is true, whatever the environment says. */
export const createColorizer = (color: boolean): Colorizer =>
  color ? (style, text) => styleText(style, text, { validateStream: false }) : (_, text) => text;

const STATUS_STYLES: Record<ObservedStatus, TextStyle> = {
  running: 'green',
  stopping: 'yellow',
  crashed: 'red',
  elsewhere: 'yellow',
  completed: 'dim',
  failed: 'red',
  waiting: 'yellow',
  paused: 'yellow',
  budget_exceeded: 'yellow',
  iteration_limit: 'yellow',
  interrupted: 'yellow',
};

/** The style of a status. */
export const getStatusStyle = (status: ObservedStatus): TextStyle => STATUS_STYLES[status];

import { type Colorizer, createColorizer } from '../text-style.ts';
import type { Terminal } from './terminal.ts';

/** The width, colors and time for what is rendered. Columns are infinite in a file or a pipe. */
export interface RenderContext {
  readonly columns: number;
  readonly colorize: Colorizer;
  readonly now: number;
}

/** Creates the context for what is printed on stdout. */
export function createRenderContext(
  { outIsScreen = false, screen }: Terminal,
  now: number = Date.now(),
): RenderContext {
  const isScreen = outIsScreen && screen !== null;
  return {
    columns: isScreen ? screen.size().columns : Number.POSITIVE_INFINITY,
    colorize: createColorizer(isScreen && screen.color),
    now,
  };
}

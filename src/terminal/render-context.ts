import { type Colorizer, createColorizer } from '../events/text-style.ts';
import type { Terminal } from './terminal.ts';

/** Where something is to be read. In a file or a pipe every line may be as long as it likes. */
export interface RenderContext {
  readonly columns: number;
  readonly colorize: Colorizer;
  readonly now: number;
}

/** The page behind stdout. */
export function createRenderContext({ outIsScreen = false, screen }: Terminal): RenderContext {
  const isScreen = outIsScreen && screen !== null;
  return {
    columns: isScreen ? screen.size().columns : Number.POSITIVE_INFINITY,
    colorize: createColorizer(isScreen && screen.colour),
    now: Date.now(),
  };
}

import { type Dye, dyeFor } from '../observers/ink.ts';
import type { Terminal } from './terminal.ts';

/** Where something is to be read. In a file or a pipe every line may be as long as it likes. */
export interface Page {
  readonly columns: number;
  readonly dye: Dye;
  readonly now: number;
}

/** The page behind stdout. */
export function pageOf({ outIsScreen = false, screen }: Terminal): Page {
  const isScreen = outIsScreen && screen !== null;
  return {
    columns: isScreen ? screen.size().columns : Number.POSITIVE_INFINITY,
    dye: dyeFor(isScreen && screen.colour),
    now: Date.now(),
  };
}

import { EXIT, RaymondError } from '../errors.ts';
import type { ChangedFile } from '../language/pinned-code.ts';

/** Says that a turn would use code which the run has not seen before. */
export class ChangedCodeError extends RaymondError {
  readonly changed: readonly ChangedFile[];

  constructor(message: string, changed: readonly ChangedFile[]) {
    super(message, { exitCode: EXIT.paused });
    this.changed = changed;
  }
}

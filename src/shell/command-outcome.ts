import { joinOutputs, NO_PATHS, type PathOutputs } from './path-outputs.ts';

/** What may have been printed when a command has ended. */
export interface CommandOutcome {
  /** It went well. */
  readonly ok: PathOutputs;
  /** It was a question, and the answer is no. */
  readonly no: PathOutputs;
  /** It has failed. */
  readonly failed: PathOutputs;
}

export const UNREACHED: CommandOutcome = { ok: NO_PATHS, no: NO_PATHS, failed: NO_PATHS };

export const succeedWith = (ok: PathOutputs): CommandOutcome => ({ ...UNREACHED, ok });

export const failWith = (failed: PathOutputs): CommandOutcome => ({ ...UNREACHED, failed });

/** However it ended. */
export const allOutputs = ({ ok, no, failed }: CommandOutcome): PathOutputs => joinOutputs(ok, no, failed);

/** If it did not go well. */
export const unsuccessfulOutputs = ({ no, failed }: CommandOutcome): PathOutputs => joinOutputs(no, failed);

export const joinOutcomes = (...outcomes: readonly CommandOutcome[]): CommandOutcome => ({
  ok: joinOutputs(...outcomes.map(({ ok }) => ok)),
  no: joinOutputs(...outcomes.map(({ no }) => no)),
  failed: joinOutputs(...outcomes.map(({ failed }) => failed)),
});

export const mapOutcome = (
  { ok, no, failed }: CommandOutcome,
  change: (outputs: PathOutputs) => PathOutputs,
): CommandOutcome => ({
  ok: change(ok),
  no: change(no),
  failed: change(failed),
});

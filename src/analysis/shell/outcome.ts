import { joined, NONE, type Sayings } from './sayings.ts';

/** What may have been printed when a command has ended. */
export interface Outcome {
  /** It went well. */
  readonly ok: Sayings;
  /** It was a question, and the answer is no. */
  readonly no: Sayings;
  /** It has failed. */
  readonly failed: Sayings;
}

export const NOWHERE: Outcome = { ok: NONE, no: NONE, failed: NONE };

export const well = (ok: Sayings): Outcome => ({ ...NOWHERE, ok });

export const badly = (failed: Sayings): Outcome => ({ ...NOWHERE, failed });

/** However it ended. */
export const settled = ({ ok, no, failed }: Outcome): Sayings => joined(ok, no, failed);

/** If it did not go well. */
export const unmet = ({ no, failed }: Outcome): Sayings => joined(no, failed);

export const either = (...all: readonly Outcome[]): Outcome => ({
  ok: joined(...all.map(({ ok }) => ok)),
  no: joined(...all.map(({ no }) => no)),
  failed: joined(...all.map(({ failed }) => failed)),
});

export const mapped = ({ ok, no, failed }: Outcome, change: (sayings: Sayings) => Sayings): Outcome => ({
  ok: change(ok),
  no: change(no),
  failed: change(failed),
});

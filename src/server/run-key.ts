import type { RunLocation } from '../runtime/open-runs.ts';

/** A text that tells a run from all others of a server, which has one database at most. */
export const keyOfRun = ({ id, location }: { readonly id: string; readonly location: RunLocation }): string =>
  `${typeof location === 'string' ? location : ''}\0${id}`;

import type { RunStorage } from '../storage/storage.ts';

/** A run that a server shows. */
export interface ServedRun {
  readonly id: string;
  readonly storage: RunStorage;
}

/** A text that tells a run from all others of a server. */
export const keyOfRun = ({ id, storage }: ServedRun): string => `${storage.name}\0${id}`;

import { findLayout } from '../store/layout.ts';
import { createFileReader } from './file-reader.ts';
import type { RunReader } from './run-reader.ts';

/** Where to look for runs: a folder to stand in, or a reader. */
export type RunLocation = string | RunReader;

/** The runs of a location. */
export const openRuns = (location: RunLocation): RunReader =>
  typeof location === 'string' ? createFileReader(findLayout(location)) : location;

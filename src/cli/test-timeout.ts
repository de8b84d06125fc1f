import type { ParsedOptions } from './command.ts';
import { getNumberOption } from './parsed-options.ts';

const DEFAULT_TEST_TIMEOUT_SECONDS = 60;

/** How long a scenario may take, in milliseconds: what `--timeout` says, where 0 stands for as long as it likes. */
export function getTestTimeoutMs(options: ParsedOptions): number {
  const seconds = getNumberOption(options, 'timeout') ?? DEFAULT_TEST_TIMEOUT_SECONDS;
  return seconds === 0 ? Number.POSITIVE_INFINITY : seconds * 1000;
}

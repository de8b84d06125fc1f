import { listRuns } from '../list-runs.ts';
import { type HealthCheck, okResult, warningResult } from './check.ts';

/** Whether there are runs that were cut off, or that cannot be read. */
export const checkRuns: HealthCheck = async ({ cwd }) => {
  const all = await listRuns(cwd);
  if (all.length === 0) return null;
  const unreadable = all.filter(({ kind }) => kind === 'unreadable');
  if (unreadable.length > 0)
    return warningResult(
      `${unreadable.length} of ${all.length} cannot be read: ${formatRunIds(unreadable)}`,
      '`raymond list` tells why.',
    );
  const crashed = all.filter((run) => run.kind === 'run' && run.observedStatus === 'crashed');
  if (crashed.length > 0)
    return warningResult(
      `${crashed.length} of ${all.length} cut off: ${formatRunIds(crashed)}`,
      '`raymond recover --resume` goes on with them.',
    );
  return okResult(`${all.length}, none cut off`);
};

const MAX_NAMES = 3;

const formatRunIds = (runs: readonly { readonly id: string }[]): string =>
  runs
    .slice(0, MAX_NAMES)
    .map(({ id }) => id)
    .concat(runs.length > MAX_NAMES ? ['…'] : [])
    .join(', ');

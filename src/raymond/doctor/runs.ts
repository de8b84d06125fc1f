import { runsHere } from '../runs.ts';
import { type Check, odd, well } from './check.ts';

/** Whether there are runs that were cut off, or that cannot be read. */
export const runs: Check = async ({ cwd }) => {
  const all = await runsHere(cwd);
  if (all.length === 0) return null;
  const broken = all.filter(({ kind }) => kind === 'unreadable');
  if (broken.length > 0)
    return odd(`${broken.length} of ${all.length} cannot be read: ${namesOf(broken)}`, '`raymond list` tells why.');
  const cut = all.filter((run) => run.kind === 'run' && run.standing === 'crashed');
  if (cut.length > 0)
    return odd(
      `${cut.length} of ${all.length} cut off: ${namesOf(cut)}`,
      '`raymond recover --resume` goes on with them.',
    );
  return well(`${all.length}, none cut off`);
};

const MOST_NAMES = 3;

const namesOf = (some: readonly { readonly id: string }[]): string =>
  some
    .slice(0, MOST_NAMES)
    .map(({ id }) => id)
    .concat(some.length > MOST_NAMES ? ['…'] : [])
    .join(', ');

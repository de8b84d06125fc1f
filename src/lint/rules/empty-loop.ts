import { defineStateRule } from '../rule.ts';

/** A script prints its tags in a loop that may have nothing to go through. */
export const emptyLoop = defineStateRule({ id: 'empty-loop', level: 'info' }, (analysis) =>
  (analysis.paths?.outputs ?? []).flatMap((output, _, all) => {
    // That nothing may be printed at all is worse.
    if (output.kind !== 'skipped' || all.some(({ kind }) => kind === 'nothing')) return [];
    const message = 'if this loop has nothing to go through, the script prints no tag';
    const hint = 'Print another tag in that case, or let the script fail with a message, if it can happen.';
    return [{ at: analysis.positionAt(output.loop), message, hint }];
  }),
);

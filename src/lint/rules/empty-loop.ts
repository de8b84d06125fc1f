import { defineStateRule } from '../rule.ts';

/** A script prints its tags in a loop that may have nothing to go through. */
export const emptyLoop = defineStateRule({ id: 'empty-loop', level: 'info' }, (analysis) =>
  (analysis.paths?.outputs ?? []).flatMap((output, _, all) => {
    // `silent-path` reports scripts that may print nothing at all.
    if (output.kind !== 'skipped' || all.some(({ kind }) => kind === 'nothing')) return [];
    const message = 'if this loop has nothing to iterate over, the script prints no tag';
    const hint = 'If that can happen, print another tag then, or make the script fail with a message.';
    return [{ at: analysis.positionAt(output.loop), message, hint }];
  }),
);
